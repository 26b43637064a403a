"""What a recording is made of: every kind of event, and every record that lies within one.

Nothing here names an event, so that a new one needs no code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, cast, get_args, get_type_hints

from engine.config import ConfigError
from engine.events import Event

Schema = Mapping[str, Sequence[str]]


class RecordingError(ConfigError):
    """A recording that cannot be written or read; `place` is the file, with the line."""


def schema() -> dict[str, list[str]]:
    """The fields of every event and of every record within one, as a header names them."""
    return {name: list(fields_of(kind)) for name, kind in RECORDS.items()}


def is_record(hint: Any) -> bool:
    """Whether values of a type are written as the array of their fields."""
    return is_dataclass(hint) or hasattr(hint, "_fields")


def fields_of(kind: type[Any]) -> dict[str, bool]:
    """The fields of a dataclass or a named tuple in order, and which of them have a default."""
    if issubclass(kind, tuple):
        return {name: name in kind._field_defaults for name in kind._fields}  # type: ignore[attr-defined]
    return {
        field.name: field.default is not MISSING or field.default_factory is not MISSING
        for field in fields(kind)
    }


def _collect(kinds: Iterable[type[Any]]) -> dict[str, type[Any]]:
    """Records by name, with those that lie within them."""
    found: dict[str, type[Any]] = {}
    for kind in kinds:
        hints = get_type_hints(kind).values()
        within = [part for hint in hints for part in (hint, *get_args(hint)) if is_record(part)]
        found |= {kind.__name__: kind} | _collect(cast(list[type[Any]], within))
    return found


KINDS: dict[str, type[Any]] = {kind.__name__: kind for kind in get_args(Event)}
RECORDS = _collect(KINDS.values())
