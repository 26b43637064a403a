"""Who wins a comparison and at what price, or why nobody does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.runners.parts import ModelSpec
from engine.settings import EngineSettings
from tests.builders import ask
from tests.studies import TEXT
from tests.tui.lanes import SPEC, compare, preset_of
from tests.tui.stage import StageBackend
from tuiapp.commands.compare import judge_engines
from tuiapp.lanes import Comparison, contest_of_log, contest_of_preset, tell_lane, tell_verdict
from tuiapp.lanes.lane import Status
from tuiapp.presets import find_preset
from tuiapp.running.headless import run_preset
from tuiapp.running.study import study_preset
from tuiapp.running.verdicts import judge


@pytest.mark.parametrize("name", ["straggler", "light-load"])
def test_the_command_line_says_of_the_same_runs_what_the_screen_says(name):
    preset = find_preset(name)
    comparison = compare(contest_of_preset(preset))
    outcomes = [
        run_preset(preset, each.name, preset.settings(each.name), SPEC) for each in preset.variants
    ]
    study = study_preset(preset, outcomes, judge(preset.claims, outcomes))
    assert judge_engines(study) == str(tell_verdict(comparison))


def test_the_claims_are_judged_by_the_lanes():
    comparison = compare(contest_of_preset(preset_of()))
    assert [verdict.ruling.value for verdict in comparison.rulings()] == [
        "holds",
        "fails",
        "not judged",
    ]
    assert tell_verdict(comparison).rest.endswith("1 of the preset's 3 claims hold.")


def test_a_lane_that_cannot_be_built_says_why_and_the_others_run():
    preset = preset_of(
        TEXT.replace('batcher = "static"\n', 'batcher = "static"\nnum_kv_blocks = 9000000\n')
    )
    contest = contest_of_preset(preset)
    spec = ModelSpec(device="sim:h200", model="llama-3.1-8b")
    backend = StageBackend()
    comparison = Comparison(contest, spec, backend.lend)
    comparison.poll()
    while comparison.is_running:
        backend.run(50)
        comparison.poll()
    broken, sound = comparison.lanes
    assert broken.standing.status is Status.FAILED
    assert "9000000 KV blocks of 16 tokens do not fit" in broken.standing.problem
    assert sound.is_over
    told = str(tell_verdict(comparison))
    assert told.startswith("No verdict: static failed (9000000 KV blocks of 16 tokens do not fit")
    assert told.endswith(
        "; e changes what the lanes run under, w takes other requests, r runs the lanes again."
    )


def test_where_every_lane_fails_the_verdict_says_so_and_what_to_do():
    settings = EngineSettings(num_kv_blocks=9_000_000)
    backend = StageBackend()
    backend.submit(ask("a", 10, 4))
    contest = contest_of_log(backend.log, 0, settings)
    spec = ModelSpec(device="sim:h200", model="llama-3.1-8b")
    told = str(tell_verdict(compare(contest, backend, spec)))
    assert told.startswith("No verdict: every lane failed (9000000 KV blocks")
    assert "w takes other requests" in told


def test_where_no_lane_answers_anything_nobody_wins():
    backend = StageBackend()
    backend.submit(ask("long", 100, 4))
    contest = contest_of_log(backend.log, 0, EngineSettings(max_model_len=64))
    told = str(tell_verdict(compare(contest, backend)))
    assert told.startswith("No lane answered a request (")
    assert "64" in told
    assert "e changes what the lanes run under" in told


def test_requests_that_no_lane_answers_are_told_beside_the_verdict():
    backend = StageBackend()
    backend.submit(ask("long", 100, 4))
    for name in ("a", "b", "c"):
        backend.submit(ask(name, 10, 4))
    contest = contest_of_log(backend.log, 0, EngineSettings(max_model_len=64))
    assert "No lane answered 1 of 4 (" in str(tell_verdict(compare(contest, backend)))


def test_refused_requests_leave_the_verdict_open():
    entries = {"long": EngineSettings(), "short": EngineSettings(max_model_len=64)}
    backend = StageBackend()
    backend.submit(ask("long", 100, 4))
    backend.submit(ask("short", 10, 4))
    contest = replace(contest_of_log(backend.log, 0, EngineSettings()), entries=entries)
    comparison = compare(contest, backend)
    told = str(tell_verdict(comparison))
    assert told.startswith("Not the same work: requests answered in full: long 2, short 1 (")


def test_the_verdict_names_the_winner_and_the_ratios_of_the_reports():
    comparison = compare(contest_of_preset(find_preset("straggler")))
    static, _, continuous = comparison.lanes
    ratio = static.report().value("ttft_p50_ms") / continuous.report().value("ttft_p50_ms")
    told = tell_verdict(comparison)
    assert told.point == "continuous wins"
    assert f"median first token {ratio:.0f}× sooner" in told.rest
    assert "than static, which holds 86% of its slot time idle." in told.rest
    assert tell_lane(static, comparison.shown).startswith(f"median first token {ratio:.0f}× later")
    assert tell_lane(continuous, comparison.shown) == "wins"


def test_the_verdict_names_the_price():
    comparison = compare(contest_of_preset(find_preset("sarathi-stall")))
    whole, chunked = comparison.lanes
    assert tell_verdict(comparison).point == "chunk256 wins"
    later = chunked.report().value("ttft_p50_ms") / whole.report().value("ttft_p50_ms")
    assert ("The price" in tell_verdict(comparison).rest) is (later > 1.05)


def test_lanes_that_do_the_same_are_a_draw():
    settings = EngineSettings()
    backend = StageBackend()
    backend.submit(ask("a", 10, 4))
    contest = contest_of_log(backend.log, 0, settings)
    comparison = compare(replace(contest, entries={"one": settings, "two": settings}), backend)
    assert str(tell_verdict(comparison)) == (
        "A draw: no lane is ahead of another by 5% on these requests."
    )
