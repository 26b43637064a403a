"""`Era`: a part of a run under the same settings; what ran when, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise

from engine.events import Arrived, Configured, Event, Keyframe
from engine.settings import EngineSettings
from tuiapp.counting import counted
from tuiapp.knobs import show_value
from tuiapp.lanes.axis import show_seconds

MOST_TOLD = 3  # changes that a title has room for
MOST_KNOBS = 2  # changed at once, and named


@dataclass(frozen=True, slots=True)
class Era:
    """From a moment of the run until the settings change, or until its end.

    Attributes:
        began: seconds since the first request arrived; 0 for the first era.
    """

    began: float
    settings: EngineSettings


def eras_of(events: Sequence[Event]) -> tuple[Era, ...]:
    """The eras of a run; one that ended before a request came is none."""
    origin = next((each.request.arrival for each in events if isinstance(each, Arrived)), 0.0)
    found: list[Era] = []
    for event in events:
        if isinstance(event, Keyframe) and found:
            continue
        if isinstance(event, Configured | Keyframe):
            began = max(0.0, event.time - origin)
            if found and (event.settings == found[-1].settings or began == 0.0):
                found[-1] = Era(found[-1].began, event.settings)
            else:
                found.append(Era(began if found else 0.0, event.settings))
    return tuple(found)


def tell_eras(eras: Sequence[Era]) -> str:
    """As in `static, continuous from 12.00 s`; nothing where the settings never changed."""
    if len(eras) < 2:
        return ""
    told = [eras[0].settings.batcher.value]
    changes = list(pairwise(eras))
    for before, after in changes[:MOST_TOLD]:
        told.append(f"{_tell_change(before.settings, after.settings)} from {_when(after)}")
    if more := len(changes) - MOST_TOLD:
        told += [counted(more, "more change")] if more > 0 else []
    return ", ".join(told)


def _tell_change(before: EngineSettings, after: EngineSettings) -> str:
    if before.batcher is not after.batcher:
        return after.batcher.value
    names = [each.name for each in fields(after) if _differs(each.name, before, after)]
    if len(names) > MOST_KNOBS:
        return f"{len(names)} other knobs"
    return " and ".join(f"{name} {show_value(getattr(after, name))}" for name in names)


def _differs(name: str, before: EngineSettings, after: EngineSettings) -> bool:
    return bool(getattr(before, name) != getattr(after, name))


def _when(era: Era) -> str:
    return f"{era.began:.0f} s" if era.began >= 10 else show_seconds(era.began)
