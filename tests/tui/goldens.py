"""Golden screens: the text of a screen, and the style of every run of cells in it.

`UPDATE_SCREENS=1 python -m pytest tests/tui/test_goldens.py` writes them anew. A style is named by
a short hash of itself, so that one that is new leaves the names of the others alone.
"""

from __future__ import annotations

import hashlib
import io
import os
from itertools import groupby
from pathlib import Path

from rich.console import Console
from rich.segment import Segment
from textual.app import App

FOLDER = Path(__file__).parent / "goldens"


def check_screen(app: App[object], name: str) -> None:
    """Compare what the app shows with the golden of that name.

    Raises:
        AssertionError: it looks different, or there is no golden.
    """
    path = FOLDER / f"{name}.txt"
    picture = draw(app)
    if os.environ.get("UPDATE_SCREENS"):
        FOLDER.mkdir(exist_ok=True)
        path.write_text(picture, "utf-8")
    assert path.exists(), f"no golden {path.name}: run with UPDATE_SCREENS=1 and look at it"
    assert picture == path.read_text("utf-8"), f"{name} looks different; see the diff"


def screen_text(app: App[object]) -> str:
    """The text of the screen alone."""
    return "\n".join(_text(line) for line in _lines(app))


def draw(app: App[object]) -> str:
    """The screen as text, then the styles of its lines, then what the styles are."""
    lines = _lines(app)
    styles: dict[str, str] = {}
    rows = [_runs(line, styles) for line in lines]
    text = [_text(line) for line in lines]
    legend = [f"{key} {style}" for key, style in sorted(styles.items())]
    return "\n".join([*text, "", "── styles ──", *rows, "", *legend, ""])


def _lines(app: App[object]) -> list[list[Segment]]:
    width, height = app.size
    console = Console(
        width=width,
        height=height,
        file=io.StringIO(),
        color_system="truecolor",
        legacy_windows=False,
    )
    screen = app.screen._compositor.render_update(full=True, screen_stack=app._background_screens)
    lines = console.render_lines(screen, pad=False)
    return [[segment for segment in line if segment.text and not segment.control] for line in lines]


def _text(line: list[Segment]) -> str:
    return "".join(segment.text for segment in line).rstrip()


def _runs(line: list[Segment], styles: dict[str, str]) -> str:
    """Cells of like style, as their number and the name of the style."""
    parts = []
    for style, run in groupby(line, key=lambda segment: str(segment.style)):
        key = hashlib.sha256(style.encode()).hexdigest()[:4]
        assert styles.setdefault(key, style) == style, "two styles share a name"
        parts.append(f"{sum(segment.cell_length for segment in run)}:{key}")
    return " ".join(parts)
