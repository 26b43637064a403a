"""Ways out of the screen: ctrl+c for good, and ctrl+z for a while."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.programs import find_program
from tests.tui.goldens import screen_text
from tests.tui.stage import mixed_traffic, staged

ROOT = Path(__file__).parents[2]
SECONDS = 60.0  # that a change may take on a machine with other things to do
AWAY = 10  # seconds that nobody looks
READLINE = {"COLUMNS", "LINES"}  # which Python's readline sets, whatever the terminal's size


async def test_the_first_ctrl_c_says_how_to_quit_and_the_second_quits():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.press("ctrl+c")
        assert "Press q or ctrl+c again to quit" in screen_text(stage.app)
        assert stage.app.is_running
        await stage.pilot.press("ctrl+c")
        await stage.pilot.pause()
        assert stage.app.return_code == 0


class Bash:
    """An interactive bash in a terminal of tmux, on a server of its own."""

    def __init__(self, socket: Path) -> None:
        self._socket = str(socket)
        shell = ["bash", "--norc", "--noprofile", "-i"]
        self.tmux("new-session", "-d", "-x", "100", "-y", "30", "-c", str(ROOT), *shell)

    def tmux(self, *arguments: str) -> str:
        command = ["tmux", "-f", os.devnull, "-S", self._socket, *arguments]
        env = {key: os.environ[key] for key in os.environ.keys() - READLINE} | {"PS1": "$ "}
        return subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout

    def say(self, line: str) -> None:
        self.tmux("send-keys", line, "Enter")

    def seconds_shown(self) -> float:
        """The engine's clock, from the title."""
        found = re.search(r"(\d+\.\d) s", self.tmux("capture-pane", "-p").splitlines()[0])
        assert found
        return float(found[1])

    def wait_for(self, words: str) -> str:
        deadline = time.monotonic() + SECONDS
        while words not in (shown := self.tmux("capture-pane", "-p")):
            assert time.monotonic() < deadline, f"{words!r} did not come:\n{shown}"
            time.sleep(0.2)
        return shown


@pytest.mark.slow
def test_ctrl_z_gives_the_terminal_back_to_bash_and_fg_draws_the_screen_again(tmp_path):
    find_program("tmux")
    bash = Bash(tmp_path / "tmux")
    try:
        bash.say(f"{sys.executable} -m tuiapp --device sim:linear")
        bash.wait_for("b Burst")
        before = bash.seconds_shown()
        bash.tmux("send-keys", "C-z")
        assert "b Burst" not in bash.wait_for("Stopped")
        bash.say("echo $((6 * 7)) $(stty | grep -c -e '-echo')")
        bash.wait_for("42 0")
        bash.say(f"sleep {AWAY}; echo $((6 * 8))")
        bash.wait_for("48")
        bash.say("fg")
        shown = bash.wait_for("b Burst")
        assert "batchscope" in shown
        assert bash.seconds_shown() - before < AWAY, "the engine's clock went on meanwhile"
        bash.tmux("send-keys", "q")
        bash.wait_for("42 0")
    finally:
        bash.tmux("kill-server")
