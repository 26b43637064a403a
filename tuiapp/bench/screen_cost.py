"""What the screen costs: tokens a second with it on, beside without.

Each run is a process of its own; that with a screen draws in a pseudo-terminal whose output is
read and thrown away.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import Thread

from engine.config import ConfigError
from engine.runners.parts import ModelSpec
from tuiapp.bench.request import Effort

COLUMNS, LINES = 120, 36
CHILD = "tuiapp.bench.screen_child"
CHILD_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class ScreenCost:
    """Medians of all pairs.

    Attributes:
        without, with_screen: output tokens a second.
        ratio: of the second to the first, in the median pair.
    """

    without: float
    with_screen: float
    ratio: float


def measure_screen(spec: ModelSpec, effort: Effort) -> ScreenCost | None:
    """Run pairs; None where there are no pseudo-terminals.

    Raises:
        ConfigError: a run failed.
    """
    try:
        import pty
    except ImportError:  # not on Windows
        return None
    pairs = [
        [_run(spec, effort, kind, pty.openpty) for kind in ("headless", "screen")]
        for _ in range(effort.num_screens)
    ]
    without, with_screen = zip(*pairs, strict=True)
    ratios = [on / off for off, on in pairs]
    return ScreenCost(median(without), median(with_screen), median(ratios))


def _run(
    spec: ModelSpec, effort: Effort, kind: str, open_pty: Callable[[], tuple[int, int]]
) -> float:
    """Run a child; return its tokens a second.

    Raises:
        ConfigError: it failed, or took too long.
    """
    with TemporaryDirectory() as folder, _terminal(open_pty) as terminal:
        result = Path(folder) / "result.json"
        wanted = {
            "kind": kind,
            "result": str(result),
            "model": spec.model,
            "device": spec.device,
            "dtype": spec.dtype,
            "load_format": spec.load_format,
            "num_requests": effort.traffic.num_requests,
        }
        child = subprocess.Popen(
            [sys.executable, "-m", CHILD, json.dumps(wanted)],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env=os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor"},
        )
        try:
            code = child.wait(CHILD_SECONDS)
        finally:
            child.kill()
            child.wait()
        if code or not result.exists():
            raise ConfigError(f"the run with {kind} ended with exit code {code}")
        return float(json.loads(result.read_text())["tokens_per_second"])


@contextmanager
def _terminal(open_pty: Callable[[], tuple[int, int]]) -> Iterator[int]:
    """A terminal of its own for a child; what is drawn is read, or the child would wait."""
    import fcntl
    import termios

    outer, inner = open_pty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    reader = Thread(target=_drain, args=(outer,), daemon=True)
    reader.start()
    try:
        yield inner
    finally:
        os.close(inner)
        reader.join()
        os.close(outer)


def _drain(descriptor: int) -> None:
    with suppress(OSError):  # the other end was closed
        while os.read(descriptor, 65536):
            pass
