"""`LifeReader`: finds one request in the log and reads on as the log grows."""

from __future__ import annotations

from engine.events import Arrived, Event
from engine.log import EventLog
from tuiapp.explain.fold import LifeFold
from tuiapp.explain.life import Life
from tuiapp.view.reading import read_on


class LifeReader:
    """Reads a log from its oldest event on, each event once.

    Args:
        until: position in the log at which to stop for good; None follows the log.
    """

    def __init__(self, log: EventLog, request_id: str, until: int | None = None) -> None:
        self._log = log
        self._request_id = request_id
        self._until = until
        self._position = 0
        self._fold: LifeFold | None = None

    def read(self, now: float) -> Life | None:
        """Its life by now, or None if its arrival is no longer in the log."""
        events, self._position = read_on(self._log, self._position, self._until)
        for event in self._skip_to_arrival(events):
            if self._fold and not self._fold.is_over:
                self._fold.feed(event)
        return self._fold.life(now) if self._fold else None

    def _skip_to_arrival(self, events: list[Event]) -> list[Event]:
        """What comes after the request's arrival."""
        if self._fold:
            return events
        for at, event in enumerate(events):
            if isinstance(event, Arrived) and event.request.id == self._request_id:
                self._fold = LifeFold(event.request)
                return events[at + 1 :]
        return []
