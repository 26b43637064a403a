"""`encode`: from an event to a line of JSON.

A record is an array: first the name of its class, then its fields in the order that the
recording's header gives. A record within a record is an array too, without its name; enums are
their values, sets are sorted lists.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from enum import Enum
from operator import attrgetter
from typing import Any

from engine.events import Event
from engine.recording.kinds import RECORDS, fields_of


def encode(event: Event) -> bytes:
    """One event as a line, the line feed included; pure ASCII, whatever the text."""
    kind = type(event)
    return f"{ENCODER.encode([kind.__name__, *GETTERS[kind](event)])}\n".encode("ascii")


def _getter(kind: type[Any]) -> Callable[[Any], Sequence[Any]]:
    """What reads all fields of a record at once."""
    names = list(fields_of(kind))
    if len(names) > 1:
        return attrgetter(*names)
    return lambda record: [getattr(record, name) for name in names]


def _to_json(value: object) -> object:
    """What JSON has no word for."""
    if (getter := GETTERS.get(type(value))) is not None:
        return getter(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, frozenset):
        return sorted(value)
    raise TypeError(f"no record for {value!r}")


GETTERS: dict[type[object], Callable[[Any], Sequence[Any]]] = {
    kind: _getter(kind) for kind in RECORDS.values()
}
ENCODER = json.JSONEncoder(separators=(",", ":"), default=_to_json)
