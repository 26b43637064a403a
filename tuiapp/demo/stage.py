"""`stage_script`: the engine of a film, on a virtual clock, with its traffic."""

from __future__ import annotations

from engine.assembly import build_core
from engine.clock import VirtualClock
from engine.cost import Linear
from engine.generate.demo import DemoMix
from engine.log import EventLog
from engine.runners.parts import ModelSpec
from engine.settings import EngineSettings
from tuiapp.demo.script import Script
from tuiapp.overrides import NONE
from tuiapp.presets import find_preset
from tuiapp.session import Session
from tuiapp.shot.sources import stage_preset
from tuiapp.shot.stepped import SteppedBackend

WORKLOAD = "gentle mix"


def stage_script(script: Script, spec: ModelSpec) -> Session:
    """A session in which the traffic of a script arrives.

    Times are those of the linear cost model, also where a model gives the text and in what is
    compared: else a film would tell of the machine that made it.

    Raises:
        ConfigError: a preset, a model or a device that cannot be.
    """
    if script.preset:
        return stage_preset(find_preset(script.preset), spec, NONE)
    return _stage_mix(script, spec)


def _stage_mix(script: Script, spec: ModelSpec) -> Session:
    clock = VirtualClock()
    cost = None if spec.device.startswith("sim") else Linear()
    settings = EngineSettings(batcher=script.batcher)
    core = build_core(spec, settings, clock, EventLog(capacity=None), cost)
    session = Session(
        SteppedBackend(core, clock),
        core.settings,
        seed=script.seed,
        spec=spec,
        cost=cost,
    )
    session.settle(core.settings)
    assert session.prompts, "an engine in this thread is ready at once"
    session.play(WORKLOAD, DemoMix(session.prompts, script.rate, script.seed))
    return session
