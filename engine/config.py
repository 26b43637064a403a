"""From a TOML table to a frozen dataclass, with errors a person can act on.

The dataclass is the schema: its annotations say which keys a table may have and of which type,
its `__post_init__` which values make sense. A field whose key is a Python keyword names the key
in its metadata, as in `field(metadata={"key": "class"})`. A union of dataclasses is told apart
by the key `kind`, which each of them carries as a class variable.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from difflib import get_close_matches
from enum import Enum
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
KeyPath = tuple[str | int, ...]
WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


class ConfigError(ValueError):
    """A setting that is unknown, missing or impossible.

    Attributes:
        problem: what is wrong and what would be right.
        path: the keys and indices that lead to it.
        place: a file, perhaps with a line, or an option of the command line.
    """

    def __init__(self, problem: str, path: KeyPath = (), place: str = "") -> None:
        self.problem, self.path, self.place = problem, path, place
        super().__init__(": ".join(part for part in (place, dotted(path), problem) if part))

    def at(self, place: str) -> ConfigError:
        """The same error, said to be in that place."""
        return ConfigError(self.problem, self.path, place)


def build(cls: type[T], table: Mapping[str, Any], where: str = "", path: KeyPath = ()) -> T:
    """Fill the fields of a dataclass from a table; a field not in it keeps its default.

    Args:
        where: the file or option that the table comes from, for errors.
        path: the keys that lead to the table within it.

    Raises:
        ConfigError: an unknown key, a missing one, or a value of the wrong type or range.
    """
    try:
        values = read_fields(cls, table, path)
        missing = [_key(field) for field in _fields(cls) if _is_missing(field, values)]
        if missing:
            raise ConfigError(f"{missing[0]!r} is missing", path)
        return construct(cls, values, path)
    except ConfigError as error:
        raise error.at(where) if where and not error.place else error from None


def read_fields(cls: type[Any], table: Mapping[str, Any], path: KeyPath = ()) -> dict[str, Any]:
    """Convert the values of a table that sets some fields of a dataclass.

    Raises:
        ConfigError: an unknown key, or a value of the wrong type.
    """
    hints = get_type_hints(cls)
    known = {_key(field): field.name for field in _fields(cls)}
    if "kind" in table and hasattr(cls, "kind"):
        table = {key: value for key, value in table.items() if key != "kind"}
    for key in table:
        if key not in known:
            raise ConfigError(f"unknown key; {suggest(key, known)}", (*path, key))
    return {
        known[key]: convert(hints[known[key]], value, (*path, key)) for key, value in table.items()
    }


def construct(make: Callable[..., T], values: Mapping[str, Any], path: KeyPath = ()) -> T:
    """Call a dataclass, or `replace` of one, with converted values.

    Raises:
        ConfigError: the dataclass found a value impossible; its message begins with the field.
    """
    try:
        return make(**values)
    except ConfigError:
        raise
    except ValueError as error:
        culprit, _, rest = str(error).partition(" ")
        if culprit in values:
            raise ConfigError(rest, (*path, culprit)) from error
        raise ConfigError(str(error), path) from error


def convert(kind: Any, value: Any, path: KeyPath = ()) -> Any:
    """Read a value as an annotation says.

    Raises:
        ConfigError: it cannot be read so.
    """
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal:
        return _choose({str(part): part for part in parts}, value, path)
    if origin in (Union, types.UnionType):
        return _convert_union(parts, value, path)
    if origin is tuple:
        return _convert_list(kind, value, path)
    if is_dataclass(kind) and isinstance(kind, type) and isinstance(value, Mapping):
        return build(kind, value, path=path)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _choose({member.value: member for member in kind}, value, path)
    return _convert_plain(kind, value, path)


def suggest(name: object, known: Iterable[str]) -> str:
    """Name what was meant, or else what there is."""
    choices = list(known)
    close = get_close_matches(str(name), choices, n=1)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(choices)}"


def dotted(path: KeyPath) -> str:
    """Write a path as `class[1].arrival.rate`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def _convert_union(kinds: tuple[Any, ...], value: Any, path: KeyPath) -> Any:
    """Read a table as the dataclass that its `kind` names, anything else as what fits first."""
    kinds = tuple(kind for kind in kinds if kind is not types.NoneType)
    named = {kind.kind: kind for kind in kinds if hasattr(kind, "kind")}
    if isinstance(value, Mapping) and named:
        if "kind" not in value:
            raise ConfigError("'kind' is missing", path)
        chosen = _choose(named, value["kind"], (*path, "kind"))
        return build(chosen, value, path=path)
    errors = []
    for kind in kinds:
        try:
            return convert(kind, value, path)
        except ConfigError as error:
            errors.append(error)
    if len(errors) == 1 or isinstance(value, Mapping):
        raise errors[0]
    raise ConfigError(f"expected {' or '.join(map(_describe, kinds))}, got {value!r}", path)


def _convert_list(kind: Any, value: Any, path: KeyPath) -> tuple[Any, ...]:
    parts = get_args(kind)
    if isinstance(value, list | tuple):
        kinds = (parts[0],) * len(value) if parts[-1] is Ellipsis else parts
        if len(kinds) == len(value):
            pairs = enumerate(zip(kinds, value, strict=True))
            return tuple(convert(part, item, (*path, at)) for at, (part, item) in pairs)
    raise ConfigError(f"expected {_describe(kind)}, got {value!r}", path)


def _convert_plain(kind: Any, value: Any, path: KeyPath) -> Any:
    if get_origin(kind) is Mapping and isinstance(value, Mapping):
        return dict(value)
    if kind is float and type(value) in (int, float) and math.isfinite(value):
        return float(value)
    if kind is Any or (kind is not float and type(value) is kind):
        return value
    raise ConfigError(f"expected {_describe(kind)}, got {value!r}", path)


def _choose(named: Mapping[str, Any], value: Any, path: KeyPath) -> Any:
    if isinstance(value, str) and value in named:
        return named[value]
    raise ConfigError(f"{value!r} is unknown; {suggest(value, named)}", path)


def _describe(kind: Any) -> str:
    """An annotation in plain words."""
    if get_origin(kind) is tuple:
        parts = get_args(kind)
        return "a list" if parts[-1] is Ellipsis else f"a list of {len(parts)}"
    if get_origin(kind) is Literal:
        return " or ".join(repr(part) for part in get_args(kind))
    return WORDS.get(kind, "a table")


def _fields(cls: type[Any]) -> list[Field[Any]]:
    return [field for field in fields(cls) if field.init]


def _key(field: Field[Any]) -> str:
    return str(field.metadata.get("key", field.name))


def _is_missing(field: Field[Any], values: Mapping[str, Any]) -> bool:
    has_default = field.default is not MISSING or field.default_factory is not MISSING
    return field.name not in values and not has_default
