"""How long a lane will take, told by a rehearsal in simulated time."""

from __future__ import annotations

import pytest

from engine.assembly import SIM_LINEAR
from engine.cost import Linear
from engine.prompts import PromptMaker
from engine.request import Request, SamplingParams
from engine.runners.parts import ModelSpec
from engine.settings import EngineSettings
from engine.tokenizer import ToyTokenizer
from tests.builders import ask, make_core
from tests.tui.stage import StageBackend, mixed_traffic
from tuiapp.lanes import Comparison, contest_of_log
from tuiapp.lanes.forecast import Measured, fit_passes, in_toy_tokens, rehearse
from tuiapp.lanes.lane import Standing, Status
from tuiapp.lanes.progress import about, expected, remaining, tell_lane_progress, tell_progress
from tuiapp.lanes.traffic import PresetTraffic, RecordedTraffic
from tuiapp.presets import find_preset
from tuiapp.running.headless import run_preset

SPEC = ModelSpec(device=SIM_LINEAR)


def comparison_of(*standings):
    """Lanes that nobody runs, with what the engine's thread would say of them."""
    backend = StageBackend()
    mixed_traffic(backend)
    comparison = Comparison(contest_of_log(backend.log, 0, EngineSettings()), SPEC, backend.lend)
    comparison.shown = comparison.lanes[: len(standings)]
    for lane, standing in zip(comparison.shown, standings, strict=True):
        lane.standing = standing
    return comparison


def test_a_rehearsal_takes_as_long_as_the_run():
    preset = find_preset("straggler")
    settings = preset.settings("static")
    outcome = run_preset(preset, "static", settings, SPEC)
    traffic = PresetTraffic(preset)
    workload = traffic.rehearsal(traffic.requests(PromptMaker(ToyTokenizer())), 1.0)
    seconds = rehearse(settings, outcome.info, workload, 16, Linear())
    assert seconds == pytest.approx(6.20, abs=0.01)
    assert seconds == pytest.approx(16 / outcome.report.service.request_throughput, rel=0.01)


def test_requests_of_any_model_are_rehearsed():
    asked = [Request(f"r{n}", (1, 30_000 + n), SamplingParams(max_tokens=9)) for n in range(4)]
    core = make_core()
    workload = RecordedTraffic(tuple(asked)).rehearsal(in_toy_tokens(asked), 1.0)
    assert rehearse(core.settings, core.info, workload, 4, Linear()) == pytest.approx(
        0.11, abs=0.01
    )
    alike = [ask("a", 40, 4), ask("b", 40, 4)]
    assert in_toy_tokens(alike) == alike


def rehearsed(num_requests, max_tokens):
    """Seconds of requests that run one after another."""
    core = make_core(max_num_seqs=1)
    asked = tuple(ask(f"r{number}", 4, max_tokens) for number in range(num_requests))
    workload = RecordedTraffic(asked).rehearsal(asked, 1.0)
    return rehearse(core.settings, core.info, workload, num_requests, Linear())


def test_what_is_too_long_to_be_rehearsed_goes_on_as_it_began():
    assert rehearsed(50, 100) == pytest.approx(50 / 20 * rehearsed(20, 100), rel=0.05)


def test_a_rehearsal_in_which_nobody_is_answered_tells_nothing():
    assert rehearsed(1, 7_000) is None


def test_a_rehearsal_is_broken_off_before_its_next_pass():
    core = make_core(max_num_seqs=1)
    asked = tuple(ask(f"r{number}", 4, 100) for number in range(50))
    workload, clock = RecordedTraffic(asked).rehearsal(asked, 1.0), []

    def is_cancelled():
        clock.append("asked")
        return len(clock) == 5

    assert rehearse(core.settings, core.info, workload, 50, Linear(), is_cancelled) is None
    assert len(clock) == 5


def test_outputs_that_ended_by_themselves_are_as_long_again():
    recorded = (ask("a", 4, 70), ask("b", 4, 90, ignore_eos=True), ask("c", 4, 50))
    traffic = RecordedTraffic(recorded, lengths={"a": 7})
    taken = traffic.rehearsal(recorded, 1.0).take(0.0)
    assert [request.sampling.max_tokens for request in taken] == [7, 90, 5]
    assert [r.sampling.max_tokens for r in traffic.workload(recorded, 1.0).take(0.0)] == [
        70,
        90,
        50,
    ]


def test_passes_cost_what_those_of_the_log_did():
    backend = StageBackend()
    assert fit_passes(backend.log.since(0)[0]) is None
    mixed_traffic(backend)
    backend.run(200)
    cost = fit_passes(backend.log.since(0)[0])
    assert cost.by_pass == pytest.approx(0.012, rel=0.1)
    assert cost.pace == pytest.approx(1.0, rel=0.1)
    assert Measured(0.02, 0.004).pace == pytest.approx(2.0)


def test_what_is_left_is_told_before_and_meanwhile():
    comparison = comparison_of(Standing(expected=20.0), Standing(expected=40.0))
    assert remaining(comparison) == 60.0
    told = str(tell_progress(comparison))
    assert told == (
        "The engine makes room for static … About 60 s to go; esc gives the engine back."
    )
    first, second = comparison.shown
    first.standing = Standing(Status.RUNNING, expected=20.0)
    first.track.ended = 5.0
    assert remaining(comparison) == 55.0
    assert tell_lane_progress(comparison, first) == "0/40 5.00 s of about 20 s"
    assert tell_lane_progress(comparison, second) == "to come, about 40 s"


def test_a_lane_that_is_over_corrects_what_was_told_of_the_others():
    comparison = comparison_of(Standing(Status.OVER, expected=20.0), Standing(expected=40.0))
    first, second = comparison.shown
    first.track.ended = 10.0
    assert expected(comparison, second) == 20.0
    assert remaining(comparison) == 20.0


def test_where_nobody_knows_no_time_is_told():
    comparison = comparison_of(Standing(expected=20.0), Standing())
    assert remaining(comparison) is None
    assert "about" not in str(tell_progress(comparison)).lower()


def test_estimates_are_as_coarse_as_they_deserve():
    assert [about(each) for each in (0.2, 14.4, 200.0)] == [
        "about a second",
        "about 14 s",
        "about 3 min",
    ]
