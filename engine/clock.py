"""Time, so that the same engine runs live or as fast as a simulation allows."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Seconds since the run began."""

    def now(self) -> float: ...

    def sleep(self, seconds: float) -> None:
        """Let time pass: wait for it, or skip it."""
        ...


class WallClock:
    """Real time, or `speed` times real time for a simulation to watch.

    It can be held: while a user looks at a paused engine, no request grows older.
    """

    def __init__(self, speed: float = 1.0) -> None:
        self._speed = speed
        self._origin = time.perf_counter()
        self._held_at: float | None = None

    def now(self) -> float:
        """Seconds since the clock was made, less the time it was held."""
        held_at = self._held_at  # read once: another thread may release the clock meanwhile
        if held_at is not None:
            return held_at
        return (time.perf_counter() - self._origin) * self._speed

    def sleep(self, seconds: float) -> None:
        time.sleep(max(0.0, seconds) / self._speed)

    def hold(self) -> None:
        """Stop the clock; holding a held clock changes nothing."""
        if self._held_at is None:
            self._held_at = self.now()

    def release(self) -> None:
        """Let a held clock go on from where it stopped."""
        if self._held_at is not None:
            self._origin = time.perf_counter() - self._held_at / self._speed
            self._held_at = None


class VirtualClock:
    """Time that passes only by `sleep`, at no cost: for tests and headless simulations."""

    def __init__(self) -> None:
        self._now = 0.0

    def now(self) -> float:
        return self._now

    def sleep(self, seconds: float) -> None:
        self._now += max(0.0, seconds)
