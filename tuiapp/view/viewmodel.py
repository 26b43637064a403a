"""`ViewModel` reads the event log, and shows what it came to in a frozen `Snapshot`."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy

from engine.events import Event, Keyframe
from engine.log import EventLog
from tuiapp.view.fold import Fold
from tuiapp.view.snapshot import Snapshot
from tuiapp.view.tracked import RequestView


class ViewModel:
    """Reads the log from where it left off; the only reader the screens need."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._position = 0
        self._fold = Fold()

    @property
    def position(self) -> int:
        """In the log, of the first event that was not read yet."""
        return self._position

    @property
    def num_passes(self) -> int:
        return self._fold.num_passes

    @property
    def request_ids(self) -> tuple[str, ...]:
        """Of all that are remembered, by arrival."""
        return self._fold.requests.request_ids

    @property
    def num_entries(self) -> int:
        """Entries of all that a copy holds: a measure of its memory."""
        return self._fold.num_entries

    def poll(self, now: float) -> Snapshot:
        """Read what is new; return the frame of this moment."""
        events, position = self._log.since(self._position)
        if position - len(events) > self._position:
            events = self._begin_again(events)
        self.feed(events, position)
        return self.snapshot(now)

    def feed(self, events: Iterable[Event], position: int) -> None:
        """Take in events that end at a position of the log."""
        self._fold.feed(events)
        self._position = position

    def snapshot(self, now: float) -> Snapshot:
        """The frame of what was read, no earlier than its last event."""
        return self._fold.snapshot(now)

    def request(self, request_id: str) -> RequestView | None:
        """A request that is still remembered, or None."""
        tracked = self._fold.requests.find(request_id)
        return tracked.view() if tracked else None

    def copy(self) -> ViewModel:
        """A second one at the same place in the log; what changes no more is shared."""
        twin = copy(self)
        twin._fold = self._fold.copy()
        return twin

    def _begin_again(self, events: list[Event]) -> list[Event]:
        """Forget all but what runs, since the log forgot events that were never read.

        Returns:
            The events from the oldest keyframe on, which says what the rest builds on.
        """
        self._fold = Fold(self._fold.info)
        kinds = (at for at, event in enumerate(events) if isinstance(event, Keyframe))
        return events[next(kinds, len(events)) :]
