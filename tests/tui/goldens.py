"""Golden screens: the text of a screen, and the style of every run of cells in it.

`UPDATE_SCREENS=1 python -m pytest tests/tui -k goldens` writes most of them anew, and without `-k`
all of them.
"""

from __future__ import annotations

import os
from difflib import unified_diff
from pathlib import Path

from textual.app import App

from tuiapp.shot.cells import screen_text, styled_text

__all__ = ["check_screen", "draw", "screen_text", "tell_difference"]

FOLDER = Path(__file__).parent / "goldens"
draw = styled_text


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
    golden = path.read_text("utf-8")
    if picture != golden:
        raise AssertionError(tell_difference(name, golden, picture))


def tell_difference(name: str, golden: str, picture: str) -> str:
    """The lines that differ; those below the text are the styles, `4:1f0c` being four cells."""
    was, now = golden.splitlines(), picture.splitlines()
    lines = unified_diff(was, now, "golden", "now", n=0, lineterm="")
    return "\n".join([f"{name} looks different; UPDATE_SCREENS=1 takes it as it is now", *lines])
