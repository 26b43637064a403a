"""`Knob`: one field of `EngineSettings`, with what may be set and what it does.

All of it is read from the dataclass itself, bounds included: a knob cannot say what the engine
would not accept.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from enum import Enum
from functools import cache, partial
from typing import Any, Union, get_args, get_origin, get_type_hints

from engine.batchers import BATCHERS
from engine.config import ConfigError, construct, read_fields, suggest
from engine.settings import MOST, EngineSettings, KvPolicy, SchedulingPolicy

AUTO = "auto"  # how None is written
NOTHING = "none"  # and an empty list
AUTOMATIC = frozenset(  # nothing or 0 stands for what the engine decides, not for a small number
    {"long_prefill_token_threshold", "max_model_len", "num_kv_blocks", "reserve_tokens"}
)
DEPENDS: dict[str, Callable[[EngineSettings], object]] = {  # what has no effect beside others
    "long_prefill_token_threshold": lambda its: its.enable_chunked_prefill,
    "max_long_partial_prefills": lambda its: (
        its.enable_chunked_prefill and its.long_prefill_token_threshold
    ),
    "max_waiting_tokens": lambda its: its.waiting_served_ratio,
    "aging": lambda its: its.scheduling_policy is not SchedulingPolicy.FCFS or its.delays,
    "timeout_action": lambda its: its.default_queue_timeout_ms,
    "reserve_tokens": lambda its: its.kv_policy is KvPolicy.RESERVE,
}
WORDS = {"on": True, "off": False, "true": True, "false": False}
ENTRY = re.compile(r"^    (\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Knob:
    """One setting.

    Attributes:
        kind: `int`, `float`, `bool`, an enum, or `tuple` for a list of whole numbers.
        text: what it does, from the docstring.
        is_optional: it may be left to the engine.
        least: the smallest number that is accepted; None where it is no number.
        most: the greatest one; None where there is no such bound.
    """

    name: str
    kind: type[Any]
    text: str
    is_optional: bool
    least: int | None
    most: float | None

    @property
    def choices(self) -> tuple[str, ...]:
        """The values by name, where there are only a few."""
        auto = (AUTO,) if self.is_optional else ()
        if self.kind is bool:
            return (*auto, "on", "off")
        if issubclass(self.kind, Enum):
            return (*auto, *(str(member.value) for member in self.kind))
        return ()

    @property
    def bounds(self) -> str:
        """What may be set, in words."""
        if self.choices:
            return ", ".join(self.choices)
        if self.kind is tuple:
            return "whole numbers with commas between them, or nothing"
        noun = "a whole number" if self.kind is int else "a number"
        least = "" if self.least is None else f", at least {self.least}"
        range_ = least if self.most is None else f", {self.least} to {self.most:,}"
        return f"{noun}{range_}{f', or {AUTO}' if self.is_optional else ''}"


@cache
def list_knobs() -> tuple[Knob, ...]:
    """Every field of `EngineSettings`, in its order."""
    hints = get_type_hints(EngineSettings)
    texts = dict(_entries(inspect.getdoc(EngineSettings) or ""))
    return tuple(_read(field.name, hints[field.name], texts) for field in fields(EngineSettings))


def show_value(value: object) -> str:
    """A value as it is written in a field of the panel."""
    if value is None:
        return AUTO
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, tuple):
        return ",".join(map(str, value)) or NOTHING
    return f"{value:g}" if isinstance(value, float) else str(value)


def change(settings: EngineSettings, knob: Knob, text: str) -> EngineSettings:
    """The settings with one knob turned.

    Args:
        text: the new value, as a user writes it.

    Raises:
        ConfigError: it is no such value, or does not go with the other settings.
    """
    return construct(partial(replace, settings), {knob.name: read_value(knob, text)})


def read_value(knob: Knob, text: str) -> Any:
    """A value as a user writes it.

    Raises:
        ConfigError: it is no such value.
    """
    word = text.strip().lower()
    if knob.is_optional and word == AUTO:
        return None
    if knob.kind is bool and word not in WORDS:
        raise ConfigError(f"{word!r} is unknown; {suggest(word, knob.choices)}", (knob.name,))
    return read_fields(EngineSettings, {knob.name: _scalar(knob, word)})[knob.name]


def nudge(settings: EngineSettings, knob: Knob, steps: int) -> EngineSettings:
    """The settings with one knob a notch further: the next choice, or double or half the number.

    Raises:
        ConfigError: what it would be is not accepted.
    """
    value = getattr(settings, knob.name)
    if not value and steps > 0 and knob.name in AUTOMATIC:
        raise ConfigError(f"{knob.name} is automatic; type a number with enter")
    if knob.choices:
        index = knob.choices.index(show_value(value)) + steps
        return change(settings, knob, knob.choices[index % len(knob.choices)])
    if knob.kind is tuple:
        raise ConfigError(f"{knob.name} is a list; type it with enter")
    number = value or 0
    least = knob.least or 0
    if steps < 0:
        turned = max(least, number // 2 if knob.kind is int else number / 2)
    else:
        turned = number * 2 or 1
        turned = turned if knob.most is None else min(knob.most, turned)
    return change(settings, knob, show_value(turned))


def matters(settings: EngineSettings, name: str) -> bool:
    """Whether a setting has any effect beside the others."""
    known = {name: [field.name for field in fields(kind)] for name, kind in BATCHERS.items()}
    if any(name in names for names in known.values()) and name not in known[settings.batcher]:
        return False
    depends = DEPENDS.get(name)
    return depends is None or bool(depends(settings))


def leading(settings: EngineSettings) -> str:
    """The first knob of the batcher's own: how many requests it takes at once."""
    return fields(BATCHERS[settings.batcher])[0].name


def _read(name: str, hint: Any, texts: dict[str, str]) -> Knob:
    origin = get_origin(hint)
    parts = get_args(hint) if origin in (Union, types.UnionType) else (origin or hint,)
    kind = next(part for part in parts if part is not types.NoneType)
    text = texts.get(name) or (inspect.getdoc(kind) or "").split("\n\n")[0]
    return Knob(name, kind, text, types.NoneType in parts, _least(name, kind), MOST.get(name))


def _entries(doc: str) -> Iterator[tuple[str, str]]:
    """The fields that a docstring explains, each text on one line."""
    for found in ENTRY.finditer(doc):
        text = found[2].replace("`", "").replace("None", AUTO)
        yield found[1], " ".join(text.split())


def _least(name: str, kind: type[Any]) -> int | None:
    """The smallest number that the settings accept, found by trying."""
    if kind not in (int, float):
        return None
    for number in (0, 1):
        try:
            read = read_fields(EngineSettings, {name: number})
            construct(partial(replace, EngineSettings(max_num_seqs=1)), read)
        except ConfigError:
            continue
        return number
    return None


def _scalar(knob: Knob, word: str) -> object:
    """What a user wrote, as TOML would have it."""
    if knob.kind is tuple:
        parts = [part for part in word.replace(NOTHING, "").split(",") if part.strip()]
        return [int(part) if part.strip().isdecimal() else part.strip() for part in parts]
    if knob.kind is bool:
        return WORDS[word]
    for number in (int, float):
        try:
            return number(word)
        except ValueError:
            continue
    return word
