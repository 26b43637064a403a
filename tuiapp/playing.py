"""What a session plays: a preset that was begun, and all that one can go back to."""

from __future__ import annotations

from dataclasses import dataclass

from engine.events import Configured, Played
from engine.generate.demo import DemoMix
from engine.log import EventLog
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

    def has_ended(self, log: EventLog) -> bool:
        """Whether it has come to its end; what the log has forgotten was long ago and is over."""
        if log.first > self.position:
            return True
        events = iter(log.since(self.position)[0])
        if self.position:  # what ran before may have ended while this was asked for
            any(isinstance(event, Configured) for event in events)
        return any(isinstance(event, Played) for event in events)


@dataclass(frozen=True, slots=True)
class Pastime:
    """What a session does for itself, to go back to when something else is over.

    Attributes:
        playing: what plays, if it is a preset; begun anew it plays from its beginning.
        is_over: it has come to its end, so there is nothing to begin anew.
        mix: what plays, if it is the mix without end.
    """

    settings: EngineSettings
    speed: float
    is_paused: bool
    name: str
    playing: Playing | None
    is_over: bool
    mix: DemoMix | None
