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
from dataclasses import asdict, dataclass
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
        cpu_ratio: what of a core the screen leaves to the engine. The wall time of a run counts its
            frames, so that they weigh no more where another load makes the run longer. It is a
            difference of two runs: above 1, these differ by more than the frames take.
        cpu_least, cpu_most: between what it lies, of all pairs.
    """

    without: float
    with_screen: float
    ratio: float
    cpu_ratio: float
    cpu_least: float
    cpu_most: float

    def tell_left(self) -> str:
        """What of a core is left, and whether that can be said at all."""
        pairs = f"{self.cpu_least:.1%} to {self.cpu_most:.1%} by pair"
        if self.cpu_most > 1:
            return f"what frames take cannot be told from noise (left of a core: {pairs})"
        return f"{self.cpu_ratio:.1%} of a core is left ({pairs})"


@dataclass(frozen=True, slots=True)
class ChildRate:
    """Output tokens a second of one run."""

    per_second: float
    per_cpu_second: float


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
    left = [_left(off, on) for off, on in pairs]
    return ScreenCost(
        without=median(off.per_second for off, _ in pairs),
        with_screen=median(on.per_second for _, on in pairs),
        ratio=median(on.per_second / off.per_second for off, on in pairs),
        cpu_ratio=median(left),
        cpu_least=min(left),
        cpu_most=max(left),
    )


def _left(off: ChildRate, on: ChildRate) -> float:
    """The share of a second that is left of it beside the frames."""
    frames = 1 / on.per_cpu_second - 1 / off.per_cpu_second  # CPU seconds to a token
    return 1 - frames * on.per_second


def _run(
    spec: ModelSpec, effort: Effort, kind: str, open_pty: Callable[[], tuple[int, int]]
) -> ChildRate:
    """Run a child; return its rate.

    Raises:
        ConfigError: it failed, or took too long.
    """
    with TemporaryDirectory() as folder, _terminal(open_pty) as terminal:
        result = Path(folder) / "result.json"
        wanted = {
            "kind": kind,
            "result": str(result),
            "spec": asdict(spec),
            "traffic": asdict(effort.traffic),
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
        except subprocess.TimeoutExpired as error:
            problem = f"the {kind} run took longer than {CHILD_SECONDS:.0f} s"
            raise ConfigError(problem) from error
        finally:
            child.kill()
            child.wait()
        if code or not result.exists():
            raise ConfigError(f"the {kind} run ended with exit code {code}")
        return ChildRate(**json.loads(result.read_text()))


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
