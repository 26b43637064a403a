"""The newcomer's tour, as every test of it reads it: the demo of that name."""

from __future__ import annotations

import re

from tuiapp.demo.script import Scene, find_script

TOUR = find_script("tour")
STOPS = ("b", "1", "2", "3", "c", "r", "enter", "b", "up", "enter", "r", "g", "f", "r")
SLOWEST, WHY, REWIND = "enter", "escape escape space b N up enter", "escape space r g"  # scenes
WAITS = re.compile(r"waits +\d+ (?:is|are) ahead of it; for \S+ (?:no slot is|\d+ of the \d+)")
CULPRIT = re.compile(
    r"worst gap [\d.,]+ ms of \S+: "
    r"(?:Pass \d+ took|It was evicted|It was given no token in|For [\d.,]+ m?s of)"
)


def name(scene: Scene) -> str:
    """What a scene is called in the tests: its keys, or where it has none its caption."""
    return " ".join(scene.keys) or scene.caption


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
