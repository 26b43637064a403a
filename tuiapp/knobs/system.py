"""`System`: the scheduler of a well-known engine, as far as our knobs can set it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from engine.config import build, construct, read_fields
from engine.settings import EngineSettings

FILE = Path(__file__).parent / "systems.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One engine's way of scheduling.

    Attributes:
        title: its name in full.
        story: what is the same and what is not, in a few words.
        same: what our engine then does as it does.
        differs: what it does otherwise.
        source: where that is from.
        settings: fields of `EngineSettings`, converted; sizes that are no part of the
            behaviour are left alone.
    """

    name: str
    title: str
    story: str
    same: str
    differs: str
    source: str
    settings: Mapping[str, Any]

    def apply(self, settings: EngineSettings) -> EngineSettings:
        """The settings, scheduled as this system would.

        Raises:
            ConfigError: the rest of the settings does not go with it.
        """
        return construct(partial(replace, settings), self.settings)

    def matches(self, settings: EngineSettings) -> bool:
        """Whether the settings are this system's, in all that it sets."""
        return all(getattr(settings, key) == value for key, value in self.settings.items())


@dataclass(frozen=True, slots=True)
class _Shelf:
    usual: Mapping[str, Any]
    systems: tuple[System, ...] = field(metadata={"key": "system"})


def read_systems(path: Path = FILE) -> tuple[System, ...]:
    """The systems that we can stand for, in the order in which `m` goes through them.

    Raises:
        ConfigError: the file is wrong.
    """
    table = tomllib.loads(path.read_text("utf-8"))
    shelf = build(_Shelf, table, path.name)
    return tuple(
        replace(
            each,
            settings=read_fields(
                EngineSettings, {**shelf.usual, **each.settings}, ("system", index)
            ),
        )
        for index, each in enumerate(shelf.systems)
    )


def system_of(settings: EngineSettings, systems: tuple[System, ...]) -> System | None:
    """The system that the settings stand for, if there is one."""
    return next((each for each in systems if each.matches(settings)), None)


def next_system(settings: EngineSettings, systems: tuple[System, ...]) -> System:
    """The system after the one that the settings stand for; the first if they stand for none."""
    current = system_of(settings, systems)
    index = systems.index(current) + 1 if current else 0
    return systems[index % len(systems)]
