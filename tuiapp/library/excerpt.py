"""`excerpt`: from a log of hours, the events of one run, so that they can be read by themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from engine.events import (
    Arrived,
    Configured,
    Delivered,
    EngineInfo,
    Event,
    Finished,
    Keyframe,
    Ready,
    Step,
    Token,
)
from engine.log import EventLog


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Events that begin with an engine and its settings.

    Attributes:
        is_whole: they reach back to where the run began; else to the oldest keyframe kept.
    """

    events: tuple[Event, ...]
    is_whole: bool


def excerpt(log: EventLog, position: int, info: EngineInfo) -> Excerpt:
    """What happened since a run began.

    Args:
        position: in the log, where it was asked for; it begins with the settings that follow.
    """
    events, end = log.since(position)
    if end - len(events) > position:
        return Excerpt(tuple(_from_keyframe(events, info)), is_whole=False)
    if position == 0:
        return Excerpt(tuple(events), is_whole=True)
    begin = next((at for at, each in enumerate(events) if isinstance(each, Configured)), None)
    if begin is None:
        return Excerpt((), is_whole=True)
    ready = Ready(events[begin].time, info)
    return Excerpt((ready, *_own(events[begin:])), is_whole=True)


def _from_keyframe(events: list[Event], info: EngineInfo) -> Iterator[Event]:
    """From where the whole state of the engine is known on."""
    begin = next((at for at, each in enumerate(events) if isinstance(each, Keyframe)), None)
    if begin is not None:
        yield Ready(events[begin].time, info)
        yield from events[begin:]


def _own(events: Iterable[Event]) -> Iterator[Event]:
    """Without what still happened to requests of before, which were ended for this run."""
    known: set[str] = set()
    for event in events:
        match event:
            case Arrived(request=request):
                known.add(request.id)
            case Token() | Delivered() | Finished() if event.request_id not in known:
                continue
            case Step() if not known:
                continue
            case Keyframe(requests=requests) if not known.issuperset(r.id for r in requests):
                continue
            case _:
                pass
        yield event
