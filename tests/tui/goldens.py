"""Golden screens: the text of a screen, and the style of every run of cells in it.

`UPDATE_SCREENS=1 python -m pytest tests/tui/test_goldens.py` writes them anew.
"""

from __future__ import annotations

import os
from pathlib import Path

from textual.app import App

from tuiapp.shot.cells import screen_text, styled_text

__all__ = ["check_screen", "draw", "screen_text"]

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
    assert picture == path.read_text("utf-8"), f"{name} looks different; see the diff"
