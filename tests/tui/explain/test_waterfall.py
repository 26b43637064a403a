"""The parts of the waterfall add up to the measured TTFT: every request of every preset."""

from __future__ import annotations

import pytest

from engine.assembly import ModelSpec, build_core
from engine.clock import VirtualClock
from engine.events import Arrived, Delivered
from engine.log import EventLog
from engine.prompts import PromptMaker
from engine.run import run
from engine.workload import Listed
from tests.tui.explain.observed import lives_of
from tuiapp.presets import find_preset, list_presets
from tuiapp.presets.files import shipped_folder

PRESETS = list_presets((shipped_folder(),)).presets
RUNS = [(each.name, variant.name) for each in PRESETS for variant in each.variants]
MICROSECOND = 1e-6


def events_of(name: str, variant: str):
    preset = find_preset(name)
    clock = VirtualClock()
    spec = ModelSpec(device="sim:linear")
    core = build_core(spec, preset.settings(variant), clock, EventLog(capacity=None))
    run(core, Listed(preset.requests(PromptMaker(core.tokenizer))))
    return core.log.since(0)[0], clock.now()


@pytest.mark.parametrize(("name", "variant"), RUNS, ids=lambda part: part)
def test_the_parts_add_up_to_the_measured_ttft_and_e2el(name, variant):
    events, now = events_of(name, variant)
    arrivals, first, last = {}, {}, {}
    for event in events:
        if isinstance(event, Arrived):
            arrivals[event.request.id] = event.request.arrival
        elif isinstance(event, Delivered):
            first.setdefault(event.request_id, event.time)
            last[event.request_id] = event.time
    lives = lives_of(events, now)
    assert lives.keys() == arrivals.keys() == first.keys()
    for key, life in lives.items():
        ttft, e2e = first[key] - arrivals[key], last[key] - arrivals[key]
        assert sum(part.seconds for part in life.waterfall) == pytest.approx(ttft, abs=MICROSECOND)
        assert life.ttft == ttft
        assert life.e2e == e2e
        assert life.spans[0].start == arrivals[key]
        for one, following in zip(life.spans, life.spans[1:], strict=False):
            assert one.end == following.start
        assert life.end >= last[key] - MICROSECOND
