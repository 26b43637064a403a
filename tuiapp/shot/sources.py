"""Where a picture comes from: a preset that is run for it, or a recording."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engine.assembly import build_core
from engine.backends.still import StillBackend
from engine.clock import VirtualClock
from engine.cost import Linear
from engine.events import Event, is_pass
from engine.log import EventLog
from engine.recording import Recording
from engine.runners.parts import ModelSpec
from engine.settings import EngineSettings
from tuiapp.overrides import Overrides
from tuiapp.presets import Preset
from tuiapp.session import Session
from tuiapp.shot.frame import Moment
from tuiapp.shot.stepped import SteppedBackend
from tuiapp.text import one_line


def stage_preset(
    preset: Preset, spec: ModelSpec, overrides: Overrides, variant: str | None = None
) -> Session:
    """An engine on a virtual clock, to which the requests of a preset arrive.

    A model that really runs gives the tokens; even then the times are those of the linear cost
    model, or the picture would tell of the machine that took it.

    Raises:
        ConfigError: a variant, a setting, a model or a device that cannot be.
    """
    base = overrides.apply(EngineSettings())
    settings = overrides.apply(preset.settings(variant))
    clock = VirtualClock()
    cost = None if spec.device.startswith("sim") else Linear()
    core = build_core(spec, settings, clock, EventLog(capacity=None), cost)
    session = Session(
        SteppedBackend(core, clock),
        core.settings,
        base=base,
        seed=preset.about.seed,
        spec=spec,
        cost=cost,
    )
    session.settle(core.settings)
    session.play_requests_of(preset)
    return session


def stage_recording(path: Path, moment: Moment) -> Session:
    """A moment of a recording.

    Raises:
        RecordingError: it cannot be read.
    """
    recording = Recording(path)
    backend = StillBackend(until(recording, moment))
    session = Session(backend, recording.settings, replay=backend)
    session.workload, session.recording = one_line(f"replay of {path.name}"), path
    return session


def until(recording: Recording, moment: Moment) -> Iterator[Event]:
    """What was recorded up to a moment.

    Raises:
        RecordingError: a line up to there is damaged.
    """
    for event in recording.events():
        if moment.time is not None and event.time > moment.time:
            return
        yield event
        if moment.num_passes is not None and _is_pass(event, moment.num_passes):
            return


def _is_pass(event: Event, number: int) -> bool:
    return is_pass(event) and event.index + 1 >= number
