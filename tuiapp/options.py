"""What a user asks for on the command line, as the values that the rest works with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from engine.config import ConfigError, construct, read_fields, suggest
from engine.runners.parts import ModelSpec
from engine.settings import EngineSettings
from tuiapp.knobs import list_knobs
from tuiapp.knobs.knob import read_value
from tuiapp.preferences import NOTHING, Found

FLAGS = {
    "batcher": "--batcher",
    "max_num_seqs": "--slots",
    "max_batch_size": "--slots",
    "long_prefill_token_threshold": "--chunk",
    "num_kv_blocks": "--num-kv-blocks",
    "deliver": "--deliver",
    "async_scheduling": "--async-scheduling",
}


@dataclass(frozen=True, slots=True)
class ScreenOptions:
    """How to open the playground.

    Attributes:
        settings: to begin with; `overrides` are in them.
        overrides: fields of `EngineSettings` that the user named; they win over a preset.
        preset: to begin with, or None.
        idle: begin with no traffic.
        seed: of the traffic and of what the user injects.
        own: the looks and keys, and what is wrong with the file that says so.
        record: write a recording to this file.
    """

    spec: ModelSpec
    settings: EngineSettings
    overrides: Mapping[str, Any] = field(default_factory=dict)
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
) -> dict[str, Any]:
    """The fields of `EngineSettings` that flags name; a flag that was not given is None.

    Args:
        slots: for every batcher.
        sets: further ones as `name=value`, which win.

    Raises:
        ConfigError: a value cannot be; the message names the flag.
    """
    wanted = {
        "max_num_seqs": slots,
        "max_batch_size": slots,
        "long_prefill_token_threshold": chunk,
        "num_kv_blocks": num_kv_blocks,
        "batcher": batcher,
        "deliver": deliver,
        "async_scheduling": async_scheduling,
    }
    try:
        given = {name: value for name, value in wanted.items() if value is not None}
        return read_fields(EngineSettings, given) | dict(map(_read_set, sets))
    except ConfigError as error:
        raise _blame(error) from None


def apply_overrides(settings: EngineSettings, changes: Mapping[str, Any]) -> EngineSettings:
    """The settings with what the flags name.

    Raises:
        ConfigError: they do not go together; the message names the flag.
    """
    try:
        return construct(partial(replace, settings), changes)
    except ConfigError as error:
        raise _blame(error) from None


def screen_options(
    spec: ModelSpec,
    overrides: Mapping[str, Any],
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
    settings = apply_overrides(EngineSettings(), overrides)
    return ScreenOptions(spec, settings, overrides, preset, idle, seed, own, record)


def _read_set(text: str) -> tuple[str, Any]:
    """A setting and its value.

    Raises:
        ConfigError: there is none of that name, or it has no such value.
    """
    name, sign, value = text.partition("=")
    knobs = {knob.name: knob for knob in list_knobs()}
    if not sign or name not in knobs:
        problem = (
            f"unknown setting {name!r}; {suggest(name, knobs)}"
            if sign
            else (f"expected KNOB=VALUE, got {text!r}")
        )
        raise ConfigError(problem, place="--set")
    try:
        return name, read_value(knobs[name], value)
    except ConfigError as error:
        raise ConfigError(error.problem, error.path, "--set") from None


def _blame(error: ConfigError) -> ConfigError:
    """The same error, said of the flag."""
    if error.place:
        return error
    key = str(error.path[0]) if error.path else ""
    return ConfigError(error.problem, place=FLAGS.get(key, ""))
