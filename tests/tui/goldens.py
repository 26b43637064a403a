"""Golden screens: the text of a screen, and the style of every run of cells in it.

`UPDATE_SCREENS=1 python -m pytest -m golden` writes all of them anew, and the README's pictures.
`python -m pytest -m golden --shuffle 1 --repeats 20` draws all of them twenty times, in disorder.
"""

from __future__ import annotations

import os
from difflib import unified_diff
from pathlib import Path

from textual.app import App

from tuiapp.shot.cells import screen_lines, screen_text, styled_text

__all__ = [
    "COMMAND",
    "check_screen",
    "draw",
    "is_update",
    "screen_lines",
    "screen_text",
    "tell_difference",
]

FOLDER = Path(__file__).parent / "goldens"
COMMAND = "UPDATE_SCREENS=1 python -m pytest -m golden"
draw = styled_text


def is_update() -> bool:
    """Whether files are to be written anew rather than compared."""
    return bool(os.environ.get("UPDATE_SCREENS"))


def check_screen(app: App[object], name: str) -> None:
    """Compare what the app shows with the golden of that name.

    Raises:
        AssertionError: it looks different, or there is no golden.
    """
    path = FOLDER / f"{name}.txt"
    picture = draw(app)
    if is_update():
        FOLDER.mkdir(exist_ok=True)
        path.write_text(picture, "utf-8")
    assert path.exists(), f"no golden {path.name}: {COMMAND} makes it"
    golden = path.read_text("utf-8")
    if picture != golden:
        raise AssertionError(tell_difference(name, golden, picture))


def tell_difference(name: str, golden: str, picture: str) -> str:
    """The lines that differ; those below the text are the styles, `4:1f0c` being four cells."""
    was, now = golden.splitlines(), picture.splitlines()
    lines = unified_diff(was, now, "golden", "now", n=0, lineterm="")
    return "\n".join([f"{name} looks different; {COMMAND} takes it as it is", *lines])
