"""The parts of the waterfall add up to the measured TTFT: every request of every preset.

The lessons' own presets are among them.
"""

from __future__ import annotations

import gc
from functools import cache
from itertools import pairwise

import pytest

from engine.assembly import ModelSpec, build_core
from engine.clock import VirtualClock
from engine.events import Arrived, Delivered, Finished
from engine.log import EventLog
from engine.prompts import PromptMaker
from engine.request import FinishReason
from engine.run import run
from engine.settings import EngineSettings
from tests.tui.explain.observed import lives_of
from tuiapp.lessons.files import PRESETS as LESSON_PRESETS
from tuiapp.presets import Preset, list_presets
from tuiapp.presets.files import shipped_folder

PRESETS = list_presets((shipped_folder(), LESSON_PRESETS)).presets
RUNS = [
    pytest.param(preset, variant.name, id=f"{preset.name}-{variant.name}")
    for preset in PRESETS
    for variant in preset.variants
]
SIMULATED = ModelSpec(device="sim:linear")
MICROSECOND = 1e-6


@pytest.fixture(autouse=True)
def _no_collection():
    """A log only grows: to look through it for garbage takes as long as the run does."""
    gc.disable()
    yield
    gc.enable()


@cache
def prompt_maker():
    """One for all runs; it reads its corpus once."""
    clock = VirtualClock()
    return PromptMaker(build_core(SIMULATED, EngineSettings(), clock, EventLog()).tokenizer)


def events_of(preset: Preset, variant: str):
    clock = VirtualClock()
    core = build_core(SIMULATED, preset.settings(variant), clock, EventLog(capacity=None))
    run(core, preset.workload(preset.requests(prompt_maker())))
    return core.log.since(0)[0], clock.now()


@pytest.mark.parametrize(("preset", "variant"), RUNS)
def test_the_parts_add_up_to_the_measured_ttft_and_e2el(preset, variant):
    events, now = events_of(preset, variant)
    arrivals, first, last, served = {}, {}, {}, set()
    for event in events:
        match event:
            case Arrived(request=request):
                arrivals[request.id] = request.arrival
            case Delivered(time, request_id):
                first.setdefault(request_id, time)
                last[request_id] = time
            case Finished(request_id=request_id, reason=FinishReason.STOP | FinishReason.LENGTH):
                served.add(request_id)
    lives = lives_of(events, now)
    assert lives.keys() == arrivals.keys()
    assert first.keys() >= served
    for key, life in lives.items():
        for one, following in pairwise(life.spans):
            assert one.end == following.start
        if key not in first:
            assert life.ttft is None
            continue
        ttft, e2e = first[key] - arrivals[key], last[key] - arrivals[key]
        assert sum(part.seconds for part in life.waterfall) == pytest.approx(ttft, abs=MICROSECOND)
        assert life.ttft == ttft
        assert life.e2e == (e2e if key in served else None)
        assert life.spans[0].start == arrivals[key]
        assert life.end >= last[key] - MICROSECOND
