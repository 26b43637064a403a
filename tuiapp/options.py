"""What a user asks for on the command line, as the values that the rest works with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.config import ConfigError, read_fields, suggest
from engine.runners.parts import ModelSpec
from engine.settings import EngineSettings
from tuiapp.knobs import list_knobs
from tuiapp.knobs.knob import read_value
from tuiapp.overrides import NONE, Overrides
from tuiapp.preferences import NOTHING, Found


@dataclass(frozen=True, slots=True)
class ScreenOptions:
    """How to open the playground.

    Attributes:
        settings: to begin with; `overrides` are in them.
        overrides: what the user named; they win over a preset.
        preset: to begin with, or None.
        idle: begin with no traffic.
        seed: of the traffic and of what the user injects.
        own: the looks and keys, and what is wrong with the file that says so.
        record: write a recording to this file.
    """

    spec: ModelSpec
    settings: EngineSettings
    overrides: Overrides = NONE
    preset: str | None = None
    idle: bool = False
    seed: int = 0
    own: Found = NOTHING
    record: Path | None = None


def read_overrides(
    slots: int | None = None,
    chunk: int | None = None,
    num_kv_blocks: int | None = None,
    batcher: str | None = None,
    deliver: str | None = None,
    async_scheduling: bool | None = None,
    sets: Sequence[str] = (),
) -> Overrides:
    """The fields of `EngineSettings` that flags name; a flag that was not given is None.

    Args:
        slots: for every batcher.
        sets: further ones as `name=value`, which win.

    Raises:
        ConfigError: a value cannot be; the message names the flag.
    """
    wanted = {
        "max_num_seqs": ("--slots", slots),
        "max_batch_size": ("--slots", slots),
        "long_prefill_token_threshold": ("--chunk", chunk),
        "num_kv_blocks": ("--num-kv-blocks", num_kv_blocks),
        "batcher": ("--batcher", batcher),
        "deliver": ("--deliver", deliver),
        "async_scheduling": ("--async-scheduling", async_scheduling),
    }
    given = {name: value for name, (_, value) in wanted.items() if value is not None}
    flags = {name: wanted[name][0] for name in given}
    try:
        values = read_fields(EngineSettings, given)
    except ConfigError as error:
        raise Overrides(given, flags).blame(error) from None
    settings = dict(map(_read_set, sets))
    return Overrides(values | settings, flags | {name: f"--set {name}" for name in settings})


def screen_options(
    spec: ModelSpec,
    overrides: Overrides,
    *,
    preset: str | None,
    idle: bool,
    seed: int,
    own: Found,
    record: Path | None = None,
) -> ScreenOptions:
    """The options of the screen, with the settings that the flags make.

    Raises:
        ConfigError: the flags do not go together.
    """
    settings = overrides.apply(EngineSettings())
    return ScreenOptions(spec, settings, overrides, preset, idle, seed, own, record)


def _read_set(text: str) -> tuple[str, Any]:
    """A setting and its value.

    Raises:
        ConfigError: there is none of that name, or it has no such value.
    """
    name, sign, value = text.partition("=")
    knobs = {knob.name: knob for knob in list_knobs()}
    if not sign:
        raise ConfigError(f"expected KNOB=VALUE, got {text!r}", place="--set")
    if name not in knobs:
        raise ConfigError(f"unknown setting {name!r}; {suggest(name, knobs)}", place="--set")
    try:
        return name, read_value(knobs[name], value)
    except ConfigError as error:
        raise ConfigError(error.problem, error.path[1:], f"--set {name}") from None
