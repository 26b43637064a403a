"""The newcomer's tour in a terminal, with the shipped model: what one really sees there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.programs import find_program
from tests.tui.tour import CULPRIT, REWIND, TOUR, WAITS, WHY, check_readable, name

ROOT = Path(__file__).parents[2]
WIDTH, HEIGHT = 120, 36
SECONDS = 120.0  # that a scene may take on a machine with other things to do
POLL = 0.25
READLINE = {"COLUMNS", "LINES"}  # which Python's readline sets, whatever the terminal's size
PASSES = re.compile(r" pass (\d+) · ")
KEYS = {"escape": "Escape", "enter": "Enter", "space": "Space", "up": "Up"}  # as tmux names them

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


class Terminal:
    """A terminal of tmux, on a server of its own."""

    def __init__(self, socket: Path) -> None:
        self._socket = str(socket)

    def tmux(self, *arguments: str) -> str:
        command = ["tmux", "-f", os.devnull, "-S", self._socket, *arguments]
        env = {key: os.environ[key] for key in os.environ.keys() - READLINE}
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
        return done.stdout

    def start(self, command: str) -> None:
        self.tmux("new-session", "-d", "-x", str(WIDTH), "-y", str(HEIGHT), "-c", ROOT, command)

    def text(self) -> str:
        return self.tmux("capture-pane", "-p").rstrip("\n")

    def press(self, key: str) -> None:
        """Press a key that changes what is shown, and wait until it has."""
        before = self.text()
        self.tmux("send-keys", KEYS.get(key, key))
        self._until(lambda: self.text() != before, f"{key!r} changed nothing")

    def wait_for(self, words: tuple[str, ...]) -> str:
        """The screen, once all the words are on it."""
        self._until(lambda: all(each in self.text() for each in words), f"{words} did not come")
        return self.text()

    def let_run(self, num_passes: int) -> None:
        """Wait for forward passes, if this is a screen that counts them."""
        if began := PASSES.search(self.text()):
            end = int(began[1]) + num_passes
            self._until(lambda: self._num_passes() >= end, f"there were no {num_passes} passes")

    def _num_passes(self) -> int:
        found = PASSES.search(self.text())
        return int(found[1]) if found else 0

    def _until(self, is_so: Callable[[], bool], problem: str) -> None:
        deadline = time.monotonic() + SECONDS
        while not is_so():
            assert time.monotonic() < deadline, f"{problem}:\n{self.text()}"
            time.sleep(POLL)


@pytest.fixture
def terminal(tmp_path):
    find_program("tmux")
    terminal = Terminal(tmp_path / "tmux")
    command = f"{sys.executable} -m tuiapp; echo code $?; cat"
    terminal.start(f"sh -c '{command}'")
    yield terminal
    terminal.tmux("kill-server")


def test_the_tour_in_a_terminal(terminal, tmp_path):
    terminal.wait_for(("b Burst", "r0"))
    seen = {}
    for number, scene in enumerate(TOUR.scenes, 1):
        for key in scene.keys:
            terminal.press(key)
        terminal.wait_for(scene.shows)  # what moves by itself changes before a key is obeyed
        terminal.let_run(scene.passes)
        text = terminal.wait_for(scene.shows)
        (tmp_path / f"{number:02}.txt").write_text(f"{scene.caption}\n\n{text}\n", "utf-8")
        check_readable(text, WIDTH, HEIGHT)
        seen.setdefault(name(scene), text)
    assert "measured here" in seen["c"]
    assert WAITS.search(seen[WHY]), seen[WHY]
    assert CULPRIT.search(seen["r"]), seen["r"]
    assert re.search(r"◀ pass \d+ of \d+", seen[REWIND])
    terminal.press("q")
    last = terminal.wait_for(("code 0",))
    (tmp_path / "left.txt").write_text(last, "utf-8")
    assert "Traceback" not in last
    assert len(list(tmp_path.glob("*.txt"))) == len(TOUR.scenes) + 1
