"""`EventLog`: one writer, any number of readers, bounded memory, no lock."""

from __future__ import annotations

from engine.events import Event

CHUNK = 4096


class EventLog:
    """An append-only log that forgets its oldest events.

    Events lie in chunks, and the tuple of chunks is replaced as a whole; appending to a list,
    slicing one and reading an attribute are each atomic in CPython, and records never change. So
    a reader needs no lock, only a position of its own.

    Args:
        capacity: events kept at least, once so many were written; None keeps all.
    """

    def __init__(self, capacity: int | None = 500_000) -> None:
        self._capacity = capacity
        self._chunks: tuple[tuple[int, list[Event]], ...] = ((0, []),)
        self._newest: list[Event] = self._chunks[0][1]

    def append(self, event: Event) -> None:
        """Add an event; for the one writer only."""
        newest = self._newest
        if len(newest) == CHUNK:
            newest = self._begin_chunk()
        newest.append(event)

    def extend(self, events: list[Event]) -> None:
        """Add events in one go; for the one writer only."""
        if len(self._newest) + len(events) <= CHUNK:
            self._newest.extend(events)
        else:
            for event in events:
                self.append(event)

    def since(self, position: int, most: int | None = None) -> tuple[list[Event], int]:
        """Read on from a position.

        Args:
            most: stop early, once so many events were read; None reads all there are.

        Returns:
            The events from `position` on, as far as they are still kept, and the position to go
            on from. More was forgotten than read if the two differ by more than the events.
        """
        found: list[Event] = []
        begin = position
        for start, chunk in self._chunks:
            events = chunk[max(0, position - start) :]
            begin = max(position, start) + len(events)
            found += events
            if most is not None and len(found) >= most:
                break
        return found, begin

    @property
    def first(self) -> int:
        """Position of the oldest event kept."""
        return self._chunks[0][0]

    def __len__(self) -> int:
        """Events ever written."""
        start, chunk = self._chunks[-1]
        return start + len(chunk)

    def _begin_chunk(self) -> list[Event]:
        chunks = self._chunks
        if self._capacity is not None and len(self) - chunks[0][0] >= self._capacity + CHUNK:
            chunks = chunks[1:]
        self._newest = []
        self._chunks = (*chunks, (len(self), self._newest))
        return self._newest
