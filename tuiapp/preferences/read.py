"""Read the config file: what is right in it counts, and what is wrong is told with its line."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from platformdirs import user_config_path

from engine.assembly import check_device
from engine.config import ConfigError, KeyPath, construct, read_fields
from tuiapp.preferences.keymap import read_keys
from tuiapp.preferences.preferences import USUAL, Preferences
from tuiapp.presets.lines import find_line

VARIABLE = "BATCHSCOPE_CONFIG"  # in the environment: another file


@dataclass(frozen=True, slots=True)
class Found:
    """What a file says, and what it says wrong."""

    preferences: Preferences
    problems: tuple[ConfigError, ...] = ()


NOTHING = Found(USUAL)


def config_path() -> Path:
    """Where the file lies; it need not be there."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    return user_config_path("batchscope", appauthor=False) / "config.toml"


def read_preferences(path: Path, actions: Mapping[str, str]) -> Found:
    """Read a file; one that is not there says nothing.

    Args:
        actions: the keys of every action that may get others, by the action's name.
    """
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return NOTHING
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        return Found(USUAL, (ConfigError(f"cannot be read: {reason}", place=str(path)),))
    return parse(text, path, actions)


def parse(text: str, path: Path, actions: Mapping[str, str]) -> Found:
    """Read the text of a file, key by key, so that one mistake costs one key."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return Found(USUAL, (ConfigError(f"this is no TOML: {error}", place=str(path)),))
    chosen, problems = USUAL, list[ConfigError]()
    for key, value in table.items():
        try:
            chosen = _add(chosen, key, value)
        except ConfigError as error:
            problems.append(error)
    keys, wrong = read_keys(chosen.keys, actions)
    placed = (each.at(_place(text, path, each.path)) for each in (*problems, *wrong))
    return Found(replace(chosen, keys=keys), tuple(placed))


def _add(chosen: Preferences, key: str, value: Any) -> Preferences:
    """One key more; a device that is nowhere is refused here, where its line is known.

    Raises:
        ConfigError: there is no such key, or it cannot have that value.
    """
    values = read_fields(Preferences, {key: value})
    if values.get("device"):
        try:
            check_device(values["device"])
        except ConfigError as error:
            raise ConfigError(error.problem, ("device",)) from None
    return construct(partial(replace, chosen), values)


def _place(text: str, path: Path, keys: KeyPath) -> str:
    line = find_line(text, keys)
    return f"{path}:{line}" if line else str(path)
