"""`read_on`: the log as far as a moment that is shown, or as far as it goes."""

from __future__ import annotations

from engine.events import Event
from engine.log import EventLog


def read_on(log: EventLog, position: int, until: int | None) -> tuple[list[Event], int]:
    """Read a log on from a position.

    Args:
        until: position that is not read any more; None reads all there is.

    Returns:
        The events that are still kept, and the position to go on from.
    """
    if until is None:
        return log.since(position)
    if position >= until:
        return [], position
    events, end = log.since(position, until - position)
    return events[: max(0, until - (end - len(events)))], min(end, until)
