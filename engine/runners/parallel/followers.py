"""`Followers`: the processes that run a model together with this one, as processes."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterable, Mapping
from tempfile import TemporaryFile
from typing import IO

from engine.plan import RunnerError

PATIENCE = 2.0  # seconds that a follower has to end by itself; it has nothing to write down
LOOK_SECONDS = 0.01  # between two looks whether one has ended
MOST_WORDS = 4096  # bytes of what one said last


class Followers:
    """Starts them; this terminal is not theirs, nor are the keys that interrupt this process.

    Args:
        surroundings: what each finds in its environment beside what is in this one's.

    Attributes:
        processes: rank 1 and those behind it.
        are_listening: they were given an order, so they have loaded what they need or soon will.
    """

    def __init__(self, command: list[str], surroundings: Iterable[Mapping[str, str]]) -> None:
        self.processes: list[subprocess.Popen[bytes]] = []
        self._words: list[IO[bytes]] = []
        self.are_listening = False
        for each in surroundings:
            words = TemporaryFile()  # noqa: SIM115 -- open for as long as the process lives
            self._words.append(words)
            self.processes.append(
                subprocess.Popen(
                    command,
                    env={**os.environ, **each},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=words,
                    start_new_session=True,
                )
            )

    @property
    def are_alive(self) -> bool:
        return all(process.poll() is None for process in self.processes)

    def check(self) -> None:
        """See that all are there.

        Raises:
            RunnerError: one has ended, and what it said last.
        """
        size = len(self.processes) + 1
        for rank, (process, words) in enumerate(zip(self.processes, self._words, strict=True)):
            code = process.poll()
            if code is not None:
                reason = f"signal {-code}" if code < 0 else _last_line(words) or f"code {code}"
                raise RunnerError(
                    f"rank {rank + 1} of {size} has ended ({reason}); the model cannot run "
                    "without it, so start again"
                )

    def await_end(self, seconds: float) -> None:
        """Let one that is about to end do so, for so long at most."""
        deadline = time.monotonic() + seconds
        while self.are_alive and time.monotonic() < deadline:
            time.sleep(LOOK_SECONDS)

    def kill(self) -> None:
        """End them in whatever they are doing."""
        for process in self.processes:
            process.kill()
            process.wait()

    def wait(self) -> None:
        """Let them end by themselves; those that do not are killed."""
        for process in self.processes:
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for words in self._words:
            words.close()


def _last_line(words: IO[bytes]) -> str:
    """What was written last; the process has its own place in the file."""
    size = os.fstat(words.fileno()).st_size
    begin = max(0, size - MOST_WORDS)
    lines = os.pread(words.fileno(), MOST_WORDS, begin).decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
