"""Lanes that run one engine after another: what they get, and what they leave behind."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.backends.guest import Visit
from engine.events import Arrived, Configured, Step
from engine.metrics import Slo
from engine.request import Request, SamplingParams
from engine.runners.parts import ModelSpec
from engine.settings import EngineSettings
from tests.builders import ask, events_of, make_core, outputs_of
from tests.tui.lanes import SPEC, compare, preset_of
from tests.tui.stage import StageBackend, mixed_traffic
from tuiapp.lanes import Comparison, contest_of_log, contest_of_preset, tell_verdict
from tuiapp.lanes.lane import Lane, Standing, Status
from tuiapp.presets import find_preset
from tuiapp.running.engines import Engines
from tuiapp.running.headless import run_preset


def arrivals(lane):
    return [event.request for event in events_of(lane.standing.log, Arrived)]


def test_every_lane_gets_identical_requests_at_identical_moments():
    backend = StageBackend()
    mixed_traffic(backend)
    backend.run(60)
    backend.submit(Request("late", (3,) * 30, SamplingParams(max_tokens=5)))
    comparison = compare(contest_of_log(backend.log, 0, EngineSettings()), backend)
    assert [lane.name for lane in comparison.shown] == [
        "static",
        "dynamic",
        "continuous",
        "whole prompts",
    ]
    first, *others = (arrivals(lane) for lane in comparison.lanes)
    assert len(first) == 41
    assert first[-1].arrival > 0.5
    assert all(other == first for other in others)


@pytest.mark.parametrize("name", ["straggler", "light-load", "timeout-tradeoff"])
def test_a_lane_has_the_numbers_of_a_headless_run(name):
    preset = find_preset(name)
    comparison = compare(contest_of_preset(preset))
    for lane in comparison.lanes:
        settings = preset.settings(lane.name)
        assert lane.outcome() == run_preset(preset, lane.name, settings, SPEC)


def test_all_lanes_of_a_simulation_advance_together():
    backend = StageBackend()
    comparison = Comparison(contest_of_preset(find_preset("straggler")), SPEC, backend.lend)
    comparison.poll()
    backend.run(400)
    comparison.poll()
    ends = [lane.track.ended for lane in comparison.lanes]
    assert {lane.standing.status for lane in comparison.lanes} == {Status.RUNNING}
    assert max(ends) - min(ends) < 0.03
    assert "Answered so far: static 7 of 16, dynamic 7 of 16" in str(tell_verdict(comparison))


def test_the_engine_goes_on_as_if_nothing_had_been_compared():
    def finish(backend):
        while backend.core.has_work:
            backend.run(100)
        return outputs_of(backend.log)

    undisturbed, disturbed = StageBackend(), StageBackend()
    for backend in (undisturbed, disturbed):
        mixed_traffic(backend)
        backend.run(40)
    settings = disturbed.core.settings
    compare(contest_of_preset(preset_of()), disturbed)
    assert disturbed.core.settings == settings
    assert finish(disturbed) == finish(undisturbed)


def test_a_lane_is_over_once_all_of_it_was_read():
    core = make_core(ask("a", max_tokens=3))
    lane = Lane("a", core.settings, 1, Slo())
    lane.told = Standing(Status.RUNNING, core.log, core.info, core.settings)
    core.step()
    assert lane.read()
    while core.has_work:
        core.step()
    lane.told = replace(lane.told, status=Status.OVER)
    assert not lane.is_over
    assert lane.read()
    assert lane.is_over
    assert lane.report().service.num_completed == 1
    assert not lane.read()


def test_a_comparison_that_is_cancelled_leaves_the_engine_at_once():
    backend = StageBackend()
    mixed_traffic(backend)
    comparison = Comparison(contest_of_preset(find_preset("straggler")), SPEC, backend.lend)
    comparison.poll()
    backend.run(50)
    comparison.cancel()
    backend.run(1)
    assert backend.visit is None
    comparison.poll()
    assert not comparison.is_running
    assert {lane.standing.problem for lane in comparison.lanes} == {"broken off"}
    backend.run(10)
    assert len(events_of(backend.log, Step)) > 0


def test_lanes_are_shown_and_hidden_between_two_and_four():
    comparison = compare(contest_of_preset(find_preset("timeout-tradeoff")))
    assert len(comparison.shown) == 4
    assert comparison.toggle(0) == comparison.toggle(2) == ""
    assert [lane.name for lane in comparison.shown] == ["50ms", "400ms"]
    assert comparison.toggle(1) == "A comparison needs two lanes"
    assert comparison.toggle(7) == ""


def test_the_model_of_the_host_is_taken_over_and_given_back():
    spec = ModelSpec(device="cpu")
    host = Engines(spec).build(EngineSettings(num_kv_blocks=48))
    host.add(ask("live", 10, 6))
    host.step()
    visits = []
    comparison = Comparison(
        contest_of_preset(preset_of()), spec, lambda guest: visits.append(Visit(host, guest))
    )
    comparison.poll()
    model = host.runner.model
    while visits[-1].turn() is not None:
        pass
    comparison.poll()
    assert [lane.is_over for lane in comparison.lanes] == [True, True]
    assert not comparison.is_simulated
    assert all(lane.standing.expected > 0 for lane in comparison.lanes)
    assert host.runner.model is model
    assert host.runner.attention.cache.num_blocks == pytest.approx(48, abs=1)
    while host.has_work:
        host.step()
    assert len(outputs_of(host.log)["live"]) == 6
    assert len(events_of(comparison.lanes[0].standing.log, Configured)) == 1
