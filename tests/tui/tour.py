"""The newcomer's tour, as every test of it reads it: the demo of that name."""

from __future__ import annotations

from tuiapp.demo.script import find_script

TOUR = find_script("tour")
STOPS = ("b", "1", "2", "3", "c", "r", "enter", "g", "f")  # keys that a newcomer presses


def check_readable(text: str, width: int, height: int) -> None:
    """Hold a screen to what any of them must be: full, in its frame, and no heap of errors.

    Raises:
        AssertionError: it is none that one would show.
    """
    lines = text.split("\n")
    assert len(lines) <= height
    assert max(len(line) for line in lines) <= width
    assert sum(bool(line.strip()) for line in lines) >= height // 2
    for word in ("Traceback", "Error:", "\x1b", "\ufffd"):
        assert word not in text
