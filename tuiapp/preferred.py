"""What the config file and the flags of the screen come to together."""

from __future__ import annotations

from dataclasses import replace

from engine.config import ConfigError, read_fields
from tuiapp.preferences import Found, Preferences, config_path, read_preferences
from tuiapp.presets import Preset, find_preset
from tuiapp.screens.live_keys import KEYS


def read_own(*, theme: str | None, ascii_only: bool) -> Found:
    """The config file, with what flags say of the looks.

    Raises:
        ConfigError: there is no such theme.
    """
    found = read_preferences(config_path(), KEYS)
    chosen = found.preferences
    if theme:
        try:
            chosen = replace(chosen, **read_fields(Preferences, {"theme": theme}))
        except ConfigError as error:
            raise ConfigError(error.problem, place="--theme") from None
    return replace(found, preferences=replace(chosen, ascii=ascii_only or chosen.ascii))


def choose_preset(own: Found, preset: str | None, *, is_idle: bool) -> tuple[Preset | None, Found]:
    """The preset that was named, or else the one of the config file, or none.

    Returns:
        It, and with the problems that it there is none of that name in the file.

    Raises:
        ConfigError: a preset that was named is not there.
    """
    if preset:
        return find_preset(preset), own
    if is_idle or not own.preferences.preset:
        return None, own
    try:
        return find_preset(own.preferences.preset), own
    except ConfigError as error:
        told = ConfigError(error.problem, ("preset",), str(config_path()))
        return None, replace(own, problems=(*own.problems, told))
