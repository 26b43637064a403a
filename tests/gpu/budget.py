"""Parts of a measurement that share a time: what fails or is too late does not lose the others."""

from __future__ import annotations

import gc
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import torch


class OutOfTime(BaseException):
    """A part takes longer than there is; no kind that somebody on the way would catch."""


class Budget:
    """Runs parts one after the other until the time is over.

    Args:
        seconds: from now on; no part goes on for longer.

    Attributes:
        left_out: parts that were not run to their end for want of time, and why.
        failures: parts that failed, and why.
    """

    def __init__(self, seconds: float) -> None:
        self._began = time.monotonic()
        self._seconds = seconds
        self.left_out: list[str] = []
        self.failures: list[str] = []

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._began

    def run(self, name: str, needs: float, work: Callable[[], object]) -> None:
        """Run a part if it can be expected to end in time.

        Args:
            needs: seconds that it may well take.
        """
        left = self._seconds - self.elapsed
        if left < needs:
            self.left_out.append(f"{name}: not reached in time")
            return
        print(f"[{self.elapsed:4.0f} s] {name}", flush=True)
        try:
            with _alarm(left):
                work()
        except OutOfTime:
            self.left_out.append(f"{name}: not finished in time")
        except Exception as error:  # noqa: BLE001 -- whatever it is, the other parts count
            traceback.print_exc(limit=-5)
            self.failures.append(f"{name}: {type(error).__name__}: {error}"[:300])
        forget()


def forget() -> None:
    """Give memory back to the device."""
    if "torch._dynamo" in sys.modules:
        torch.compiler.reset()  # what was compiled holds the model
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Interrupt what lasts longer; a call to the device is waited for.

    Raises:
        OutOfTime: so much time is over.
    """

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
