"""What an app shows, as text, as text with the style of every cell, and as SVG."""

from __future__ import annotations

import hashlib
import io
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.segment import Segment
from textual.app import App


def screen_text(app: App[Any]) -> str:
    """The text of the screen alone."""
    return "\n".join(_text(line) for line in screen_lines(app))


def styled_text(app: App[Any]) -> str:
    """The screen as text, then the styles of its lines, then what the styles are.

    A style is named by a short hash of itself, so that one that is new leaves the names of the
    others alone.
    """
    lines = screen_lines(app)
    styles: dict[str, str] = {}
    rows = [_runs(line, styles) for line in lines]
    text = [_text(line) for line in lines]
    legend = [f"{key} {style}" for key, style in sorted(styles.items())]
    return "\n".join([*text, "", "── styles ──", *rows, "", *legend, ""])


def screen_lines(app: App[Any]) -> list[list[Segment]]:
    """The lines of the screen, each as runs of cells of one style."""
    width, height = app.size
    console = Console(
        width=width,
        height=height,
        file=io.StringIO(),
        color_system="truecolor",
        legacy_windows=False,
    )
    screen = app.screen._compositor.render_update(full=True, screen_stack=app._background_screens)
    assert screen is not None, "a full update draws everything"
    lines = console.render_lines(screen, pad=False)
    return [[segment for segment in line if segment.text and not segment.control] for line in lines]


def screen_svg(app: App[Any], title: str) -> str:
    """The screen in a frame, as any browser draws it; the same screen gives the same text."""
    return app.export_screenshot(title=title, simplify=True)


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
