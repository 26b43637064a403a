"""`Interrupts`: Ctrl-C breaks off a run, but never in the middle of writing it down."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class Interrupts:
    """Guards what must be whole; an interrupt that comes meanwhile is raised right after it."""

    def __init__(self) -> None:
        self._is_guarding = False
        self._is_pending = False

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Take over SIGINT; for the main thread only, as Python has it."""
        before: Any = signal.signal(signal.SIGINT, self._on_signal)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def guarded(self, work: Callable[[], None]) -> None:
        """Do this without a break.

        Raises:
            KeyboardInterrupt: the user broke off meanwhile; the work is done.
        """
        self._is_guarding = True
        try:
            work()
        finally:
            self._is_guarding = False
        if self._is_pending:
            self._is_pending = False
            raise KeyboardInterrupt

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if not self._is_guarding:
            raise KeyboardInterrupt
        self._is_pending = True
