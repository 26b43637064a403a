"""Where requests come from while an engine runs: `Workload`, and `Feed`, which paces one."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

from engine.actions import Action
from engine.queues import Queues
from engine.request import Answer, Request


class Workload(Protocol):
    """Requests and actions in order, in seconds since the workload began."""

    @property
    def is_over(self) -> bool:
        """Whether no request will come any more, whatever is answered."""
        ...

    def next_arrival(self) -> float | None:
        """When the next request comes, as far as that is known; None if none is due."""
        ...

    def next_time(self) -> float | None:
        """When there is something to take next, be it a request or an action."""
        ...

    def take(self, until: float) -> list[Request | Action]:
        """What happens up to that moment."""
        ...

    def answered(self, answer: Answer, now: float) -> None:
        """Hear that a client has all it will get; whoever asked may then ask again."""
        ...


class Listed:
    """A workload whose every arrival is known before it begins.

    Args:
        requests: in any order.
    """

    def __init__(self, requests: Iterable[Request]) -> None:
        self._pending = deque(sorted(requests, key=lambda request: request.arrival))

    @property
    def is_over(self) -> bool:
        return not self._pending

    def next_arrival(self) -> float | None:
        return self._pending[0].arrival if self._pending else None

    def next_time(self) -> float | None:
        return self.next_arrival()

    def take(self, until: float) -> list[Request | Action]:
        taken: list[Request | Action] = []
        while self._pending and self._pending[0].arrival <= until:
            taken.append(self._pending.popleft())
        return taken

    def answered(self, answer: Answer, now: float) -> None:
        """Nothing follows an answer."""


class Feed:
    """A workload on an engine's clock, from a moment on and at a speed.

    Args:
        began: seconds on the engine's clock when the workload begins.
        speed: seconds of the workload that pass in a second of the engine.
        pace: seconds of the engine that a second of the workload stands for at speed 1.

    Raises:
        ValueError: speed or pace is not above 0 and finite.
    """

    def __init__(
        self, workload: Workload, began: float = 0.0, speed: float = 1.0, pace: float = 1.0
    ) -> None:
        self._workload = workload
        self._engine_time = began
        self._workload_time = 0.0
        self._speed = check_speed(speed)
        self._pace = check_speed(pace)
        self._open: set[str] = set()  # handed out and not answered yet
        self._has_told_end = workload.is_over  # what never begins does not end either

    @property
    def is_over(self) -> bool:
        """Whether no request will come any more, whatever is answered."""
        return self._workload.is_over

    @property
    def is_done(self) -> bool:
        """Whether that, and all that did come has been answered."""
        return self.is_over and not self._open

    def set_speed(self, speed: float, now: float) -> None:
        """Let things happen faster or slower from now on.

        Raises:
            ValueError: the speed is not above 0 and finite.
        """
        speed = check_speed(speed)
        self._workload_time = self._on_workload(now)
        self._engine_time, self._speed = now, speed

    def next_time(self) -> float | None:
        """Seconds on the engine's clock when there is something to take, or None."""
        moment = self._workload.next_time()
        return None if moment is None else self._on_engine(moment)

    def take(self, now: float) -> list[Request | Action]:
        """What has happened by `now`; requests have arrivals on the engine's clock."""
        due = self._on_workload(now)
        moment = self._workload.next_time()
        if moment is not None and self._on_engine(moment) <= now:
            due = max(due, moment)  # rounding must not hide what an engine has slept for
        items = self._workload.take(due)
        return [self._place(item, now) if isinstance(item, Request) else item for item in items]

    def tell(self, answers: Iterable[Answer], now: float) -> None:
        """Pass on which requests were answered, or ended without an answer."""
        for answer in answers:
            self._open.discard(answer.request_id)
            self._workload.answered(answer, self._on_workload(now))

    def take_end(self) -> bool:
        """Whether it is done, and nobody was told so before."""
        is_news = self.is_done and not self._has_told_end
        self._has_told_end |= is_news
        return is_news

    def is_last_call(self, queues: Queues) -> bool:
        """Whether what waits is not to wait for company any more, because none can come.

        No arrival is known, and nothing runs whose answer could bring one. Where only requests
        of others wait, that is theirs to decide.
        """
        if self._workload.next_arrival() is not None:
            return False
        if any(not seq.is_finished for seq in queues.running):
            return False
        return any(seq.id in self._open for seq in queues.waiting)

    def _place(self, request: Request, now: float) -> Request:
        self._open.add(request.id)
        return replace(request, arrival=min(now, self._on_engine(request.arrival)))

    def _on_engine(self, moment: float) -> float:
        return self._engine_time + (moment - self._workload_time) * self._pace / self._speed

    def _on_workload(self, now: float) -> float:
        return self._workload_time + (now - self._engine_time) * self._speed / self._pace


def check_speed(speed: float) -> float:
    """The speed itself.

    Raises:
        ValueError: it is not above 0 and finite.
    """
    if not 0 < speed < float("inf"):
        raise ValueError(f"speed must be above 0 and finite, got {speed}")
    return speed
