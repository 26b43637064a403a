"""What happens to an engine as a whole: its start, its settings, its failures."""

from __future__ import annotations

from dataclasses import dataclass

from engine.events.info import EngineInfo
from engine.settings import EngineSettings


@dataclass(frozen=True, slots=True)
class Ready:
    """The engine is built and takes requests."""

    time: float
    info: EngineInfo


@dataclass(frozen=True, slots=True)
class Configured:
    """The settings from here on."""

    time: float
    settings: EngineSettings


@dataclass(frozen=True, slots=True)
class Failed:
    """A forward pass failed, the engine stopped, or a change of settings was refused.

    Attributes:
        is_fatal: the engine thread ended; nothing more will happen.
        is_usage: what the user asked for cannot be had, such as a model that is not there.
    """

    time: float
    message: str
    is_fatal: bool = False
    is_usage: bool = False


@dataclass(frozen=True, slots=True)
class Noted:
    """A word to those who watch: where a phase of the workload begins, or gauges fail."""

    time: float
    text: str


@dataclass(frozen=True, slots=True)
class Played:
    """The workload has asked all that it will ask, and every request of it has been answered."""

    time: float
