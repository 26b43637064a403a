"""`Decoder`: from a line of JSON, as `encode` writes it, back to an event.

How a type is read is found out once, from its annotations; what is wrong with a line is looked for
only once something is.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

from engine.config import WORDS, suggest
from engine.events import Event
from engine.recording.kinds import KINDS, RECORDS, RecordingError, Schema, fields_of, is_record

Decode = Callable[[Any], Any]


class Decoder:
    """Reads the lines of a recording.

    Args:
        schema: the fields as its header names them. One that this version does not know is an
            error, one that it lacks takes its default.

    Raises:
        RecordingError: a record or a field is unknown, or one without a default is missing.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._made: dict[type[Any], Decode] = {}
        unknown = next((name for name in schema if name not in RECORDS), None)
        if unknown is not None:
            raise RecordingError(f"unknown record {unknown!r}; {suggest(unknown, RECORDS)}")
        self._kinds = {name: self._record(KINDS[name]) for name in schema if name in KINDS}

    def decode(self, line: bytes) -> Event:
        """Read one line.

        Raises:
            RecordingError: it is damaged, or no event.
        """
        try:
            name, *values = json.loads(line)
        except (ValueError, TypeError):
            raise RecordingError(f"this is no record: {_excerpt(line)}") from None
        if not isinstance(name, str) or name not in self._kinds:
            raise RecordingError(f"unknown event {name!r}; {suggest(name, self._kinds)}")
        try:
            return cast(Event, self._kinds[name](values))
        except RecordingError as error:
            raise RecordingError(error.problem, (name, *error.path)) from None

    def peek(self, line: bytes) -> tuple[float, int]:
        """The time of an event and, of a keyframe or a step, its pass: a tenth of decoding it.

        Raises:
            RecordingError: the line is damaged, or no event.
        """
        try:
            name, *values = json.loads(line)
            found = dict(zip(self._schema[name], values, strict=True))
            return float(found["time"]), int(found.get("index", 0))
        except (ValueError, TypeError, KeyError):
            event = self.decode(line)  # which says what is wrong
            return event.time, 0

    def _of(self, hint: Any) -> Decode:
        """How to read a value of an annotated type."""
        origin, parts = get_origin(hint), get_args(hint)
        if origin in (Union, types.UnionType):
            return _optional(self._of(next(part for part in parts if part is not type(None))))
        if origin is tuple and parts[-1] is Ellipsis:
            return _sequence(self._of(parts[0]), tuple)
        if origin is frozenset:
            return _sequence(self._of(parts[0]), frozenset)
        if origin is tuple:
            return _fixed([self._of(part) for part in parts])
        if is_record(hint):
            return self._record(cast(type[Any], hint))
        return _choice(hint) if issubclass(hint, Enum) else _plain(hint)

    def _record(self, kind: type[Any]) -> Decode:
        if kind in self._made:
            return self._made[kind]
        names = self._schema.get(kind.__name__)
        if names is None:
            raise RecordingError(f"the header lacks the fields of {kind.__name__}")
        _check_fields(kind, names)
        hints = get_type_hints(kind)
        self._made[kind] = _record(kind, names, [self._of(hints[name]) for name in names])
        return self._made[kind]


def _check_fields(kind: type[Any], names: Sequence[str]) -> None:
    """Hold the fields of a header against those of a class.

    Raises:
        RecordingError: they do not go together.
    """
    known = fields_of(kind)
    unknown = next((name for name in names if name not in known), None)
    if unknown is not None:
        hint = suggest(unknown, known)
        raise RecordingError(f"unknown field {unknown!r}; {hint}", (kind.__name__,))
    for name, has_default in known.items():
        if name not in names and not has_default:
            raise RecordingError(f"the header lacks the field {name!r}", (kind.__name__,))


def _record(kind: type[Any], names: Sequence[str], parts: Sequence[Decode]) -> Decode:
    """Reads a record; what is wrong with one is looked for only once something is."""
    is_in_order = list(names) == list(fields_of(kind))

    def decode(value: Any) -> Any:
        try:
            if is_in_order and type(value) is list:
                pairs = zip(parts, value, strict=True)
                return kind(*[part(each) for part, each in pairs])
        except ValueError:
            pass  # too few values, too many, or wrong ones: said below
        return _build_record(kind, names, parts, value)

    return decode


def _build_record(
    kind: type[Any], names: Sequence[str], parts: Sequence[Decode], value: Any
) -> Any:
    """Read a record field by field.

    Raises:
        RecordingError: with the path to the field that is wrong.
    """
    if type(value) is not list or len(value) != len(names):
        raise RecordingError(f"expected {len(names)} values of {kind.__name__}, got {value!r}")
    found = {}
    for name, part, each in zip(names, parts, value, strict=True):
        try:
            found[name] = part(each)
        except RecordingError as error:
            raise RecordingError(error.problem, (name, *error.path)) from None
    try:
        return kind(**found)
    except ValueError as error:
        raise RecordingError(str(error)) from None


def _sequence(part: Decode, make: Callable[[Any], Any]) -> Decode:
    def decode(value: Any) -> Any:
        if type(value) is not list:
            raise RecordingError(f"expected a list, got {value!r}")
        return make([part(each) for each in value])

    return decode


def _fixed(parts: Sequence[Decode]) -> Decode:
    def decode(value: Any) -> Any:
        if type(value) is not list or len(value) != len(parts):
            raise RecordingError(f"expected a list of {len(parts)}, got {value!r}")
        return tuple(part(each) for part, each in zip(parts, value, strict=True))

    return decode


def _optional(part: Decode) -> Decode:
    return lambda value: None if value is None else part(value)


def _choice(kind: type[Enum]) -> Decode:
    members = {member.value: member for member in kind}

    def decode(value: Any) -> Any:
        if type(value) is str and (member := members.get(value)):
            return member
        raise RecordingError(f"{value!r} is unknown; {suggest(value, members)}")

    return decode


def _plain(kind: type[Any]) -> Decode:
    def decode(value: Any) -> Any:
        if type(value) is kind:
            return value
        if kind is float and type(value) is int:
            return float(value)
        raise RecordingError(f"expected {WORDS.get(kind, kind.__name__)}, got {value!r}")

    return decode


def _excerpt(line: bytes) -> str:
    text = line.decode("utf-8", "replace").strip()
    return repr(text if len(text) <= 60 else f"{text[:57]}...")
