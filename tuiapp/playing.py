"""What a session plays: a preset that was begun, and all that one can go back to."""

from __future__ import annotations

from dataclasses import dataclass

from engine.generate.demo import DemoMix
from engine.settings import EngineSettings
from tuiapp.presets import Preset


@dataclass(frozen=True, slots=True)
class Playing:
    """A preset that was begun.

    Attributes:
        position: in the log, when it was asked for; no two have the same.
        speed: at which its requests arrive; the last other than 1, if there was one.
    """

    preset: Preset
    position: int
    speed: float = 1.0


@dataclass(frozen=True, slots=True)
class Pastime:
    """What a session does for itself, to go back to when something else is over.

    Attributes:
        preset: what plays, if it is a preset; begun anew it plays from its beginning.
        mix: what plays, if it is the mix without end.
    """

    settings: EngineSettings
    speed: float
    is_paused: bool
    name: str
    preset: Preset | None
    mix: DemoMix | None
