"""`StillBackend`: what was logged up to a moment, which stands still; to be looked at only."""

from __future__ import annotations

from collections.abc import Iterable

from engine.backends.guest import Guest
from engine.events import Event
from engine.log import EventLog
from engine.request import Request
from engine.settings import EngineSettings
from engine.tokenizer import Tokenizer
from engine.workload import Workload


class StillBackend:
    """Holds events, and does nothing that is asked of it.

    Args:
        events: from an engine and its settings on.
        tokenizer: makes text of the prompts; None where there is no model.
    """

    def __init__(self, events: Iterable[Event], tokenizer: Tokenizer | None = None) -> None:
        self.log = EventLog(capacity=None)
        self.tokenizer = tokenizer
        self._now = 0.0
        for event in events:
            self.log.append(event)
            self._now = max(self._now, event.time)

    def now(self) -> float:
        """The moment of the last event, in seconds."""
        return self._now

    def seek(self, time: float) -> None: ...

    def seek_pass(self, index: int) -> None: ...

    def start(self) -> None: ...

    def submit(self, request: Request) -> None: ...

    def play(self, workload: Workload, speed: float = 1.0, *, in_steps: bool = False) -> None: ...

    def set_speed(self, speed: float) -> None: ...

    def abort(self, request_id: str) -> None: ...

    def abort_all(self) -> None: ...

    def flush(self) -> None: ...

    def clear_cache(self) -> None: ...

    def configure(self, settings: EngineSettings) -> None: ...

    def lend(self, guest: Guest) -> None: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def step(self, count: int = 1) -> None: ...

    def stop(self) -> None: ...
