"""Where requests come from while an engine runs: `Workload`, and `Feed`, which paces one."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

from engine.request import Request


class Workload(Protocol):
    """Requests in order of arrival, in seconds since the workload began."""

    def next_arrival(self) -> float | None:
        """When the next request comes, as far as that is known; None if none is due."""
        ...

    def take(self, until: float) -> list[Request]:
        """Requests that arrive up to that moment."""
        ...


class Listed:
    """A workload whose every arrival is known before it begins.

    Args:
        requests: in any order.
    """

    def __init__(self, requests: Iterable[Request]) -> None:
        self._pending = deque(sorted(requests, key=lambda request: request.arrival))

    def next_arrival(self) -> float | None:
        return self._pending[0].arrival if self._pending else None

    def take(self, until: float) -> list[Request]:
        taken = []
        while self._pending and self._pending[0].arrival <= until:
            taken.append(self._pending.popleft())
        return taken


class Feed:
    """A workload on an engine's clock, from a moment on and at a speed.

    Args:
        began: seconds on the engine's clock when the workload begins.
        speed: seconds of the workload that pass in a second of the engine.

    Raises:
        ValueError: the speed is not above 0 and finite.
    """

    def __init__(self, workload: Workload, began: float = 0.0, speed: float = 1.0) -> None:
        self._workload = workload
        self._engine_time = began
        self._workload_time = 0.0
        self._speed = check_speed(speed)

    @property
    def speed(self) -> float:
        return self._speed

    def set_speed(self, speed: float, now: float) -> None:
        """Let arrivals come faster or slower from now on.

        Raises:
            ValueError: the speed is not above 0 and finite.
        """
        speed = check_speed(speed)
        self._workload_time += (now - self._engine_time) * self._speed
        self._engine_time, self._speed = now, speed

    def next_arrival(self) -> float | None:
        """Seconds on the engine's clock of the next request, or None."""
        arrival = self._workload.next_arrival()
        return None if arrival is None else self._on_engine(arrival)

    def take(self, now: float) -> list[Request]:
        """Requests that have arrived by `now`, with arrivals on the engine's clock."""
        due = self._workload_time + (now - self._engine_time) * self._speed
        arrival = self._workload.next_arrival()
        if arrival is not None and self._on_engine(arrival) <= now:
            due = max(due, arrival)  # rounding must not hide what an engine has slept for
        requests = self._workload.take(due)
        return [replace(r, arrival=min(now, self._on_engine(r.arrival))) for r in requests]

    def _on_engine(self, moment: float) -> float:
        return self._engine_time + (moment - self._workload_time) / self._speed


def check_speed(speed: float) -> float:
    """The speed itself.

    Raises:
        ValueError: it is not above 0 and finite.
    """
    if not 0 < speed < float("inf"):
        raise ValueError(f"speed must be above 0 and finite, got {speed}")
    return speed
