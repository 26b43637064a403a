"""The real program in a terminal of its own, and every byte that it sends there."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time

PATIENCE = 60.0  # seconds, on a busy machine


class Terminal:
    """Runs `batchscope`, or another program of Python, with arguments until it is told to stop."""

    def __init__(
        self, *arguments: str, size=(120, 36), program=("-m", "tuiapp"), **environment: str
    ) -> None:
        self._master, slave = pty.openpty()
        self.resize(*size)
        self.process = subprocess.Popen(
            [sys.executable, *program, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=_outside() | {"TERM": "xterm-256color", "COLORTERM": "truecolor"} | environment,
            start_new_session=True,
        )
        os.close(slave)
        self.output = b""

    def resize(self, width: int, height: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def send(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def tell_of_resize(self) -> None:
        self.process.send_signal(signal.SIGWINCH)

    def wait_for(self, text: bytes) -> None:
        """Read until the program has sent this, from now on."""
        begin, deadline = len(self.output), time.monotonic() + PATIENCE
        while text not in self.output[begin:]:
            assert time.monotonic() < deadline, f"{text!r} did not come"
            assert self._read(), f"it ended before {text!r}"

    def catch_up(self) -> None:
        """Read what the program has sent already."""
        while select.select([self._master], [], [], 0)[0] and self._read():
            pass

    def leave(self) -> int:
        """Press ctrl+q, read to the end, and return the exit code."""
        self.send("\x11")
        return self.read_to_the_end()

    def read_to_the_end(self) -> int:
        """Until the program ends by itself; return its exit code."""
        while self._read():
            pass
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._master)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], PATIENCE)
        try:
            new = os.read(self._master, 65536) if ready else b""
        except OSError:  # how Linux says that nobody holds the other end
            return False
        self.output += new
        return bool(new)


def _outside() -> dict[str, str]:
    """The environment without the size of the terminal that the tests run in, if any."""
    return {key: os.environ[key] for key in os.environ if key not in ("COLUMNS", "LINES")}
