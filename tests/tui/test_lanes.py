"""Lanes on a whole engine without a thread: what runs, what is folded, what is said of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.actions import Abort
from engine.backends.guest import Visit
from engine.events import Arrived, Configured, Step, Work
from engine.metrics import Slo
from engine.request import Request, SamplingParams
from engine.runners.parts import ModelSpec
from engine.settings import BatcherName, EngineSettings
from tests.builders import ask, events_of, make_core, outputs_of
from tests.studies import TEXT
from tests.tui.stage import StageBackend, mixed_traffic
from tuiapp.commands.compare import judge_engines
from tuiapp.lanes import Comparison, contest_of_log, contest_of_preset, tell_lane, tell_verdict
from tuiapp.lanes.choose import choose_contest
from tuiapp.lanes.ghost import Tone, pair_up, tell_ghost
from tuiapp.lanes.lane import Lane, Standing, Status
from tuiapp.lanes.layout import band_slots, share_rows
from tuiapp.lanes.raster import draw_slots
from tuiapp.lanes.track import Track
from tuiapp.presets import find_preset
from tuiapp.presets.parse import parse
from tuiapp.running.engines import Engines
from tuiapp.running.headless import run_preset
from tuiapp.running.study import study_preset
from tuiapp.running.verdicts import judge
from tuiapp.session import Session
from tuiapp.view.phases import GLYPHS

SPEC = ModelSpec(device="sim:linear")


def preset_of(text=TEXT):
    return parse(text, Path("small.toml"))


def compare(contest, backend=None, spec=SPEC):
    """A comparison that has run to its end."""
    backend = backend or StageBackend()
    return finish(Comparison(contest, spec, backend.lend), backend)


def finish(comparison, backend):
    comparison.poll()
    while comparison.is_running:
        backend.run(50)
        comparison.poll()
    return comparison


def arrivals(lane):
    return [event.request for event in events_of(lane.standing.log, Arrived)]


def drawn(lane, width=20):
    span = lane.track.ended
    rows = [draw_slots(lane.track, range(s, s + 1), span, width) for s in range(2)]
    return ["".join(GLYPHS[c.phase] if c else " " for c in row) for row in rows]


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


def test_a_track_knows_the_state_of_any_moment():
    core = make_core(ask("a", 4, 3), ask("b", 4, 1), ask("c", 4, 1), max_num_seqs=2)
    while core.has_work:
        core.step()
    track = Track()
    track.write(core.log.since(0)[0])
    at_first, at_second = track.moment(0.5), track.moment(1.5)
    assert [stretch.request_id for stretch in at_first.slots] == ["a", "b"]
    assert [stretch.request_id for stretch in at_second.slots] == ["a", "c"]
    assert (at_first.num_waiting, at_second.num_waiting) == (1, 0)
    assert (at_first.num_made, at_second.num_made, track.moment(9).num_made) == (0, 2, 5)
    assert (at_second.num_ended, at_second.num_passes) == (1, 1)
    assert track.moment(9).slots == (None, None)
    assert track.end_of_pass(2) == 2.0


def test_every_moment_of_a_track_agrees_with_the_passes_of_the_log():
    comparison = compare(contest_of_preset(find_preset("timeout-tradeoff")))
    lane = comparison.lanes[1]
    for step in events_of(lane.standing.log, Step):
        if step.rows:
            moment = lane.track.moment(step.time - step.duration / 2)
            held = {s.slot: s.request_id for s in moment.slots if s}
            assert held == {row.slot: row.request_id for row in step.rows}
            assert moment.num_held == sum(row.work is Work.HELD for row in step.rows)


def test_a_request_that_was_evicted_is_in_no_slot_until_it_comes_back():
    core = make_core(ask("a", 30, 40), ask("b", 30, 40), num_kv_blocks=7, max_num_seqs=2)
    while core.has_work:
        core.step()
    track = Track()
    track.write(core.log.since(0)[0])
    evicted = [mark for mark in track.marks if mark.phase.value == "evicted"]
    assert [mark.request_id for mark in evicted] == ["b"]
    came_back = next(s for s in track.passages["b"].stretches if s.began > evicted[0].time)
    away = track.moment((evicted[0].time + came_back.began) / 2)
    assert away.slots[1] is None
    assert away.num_waiting == 1


def test_cells_show_what_takes_most_of_their_time_and_marks_however_short():
    comparison = compare(contest_of_preset(preset_of()))
    static, continuous = comparison.lanes
    assert drawn(static) == ["▒─●░░░░░░░░░░░░░░░░░", "▒──────────────────●"]
    assert drawn(continuous) == ["▒─●                 ", "▒──────────────────●"]


def test_a_begin_is_never_drawn_behind_its_end():
    comparison = compare(contest_of_preset(preset_of()))
    static, continuous = comparison.lanes
    assert drawn(static, width=5) == ["●░░░░", "▒───●"]
    assert drawn(continuous, width=5) == ["●    ", "▒───●"]


def test_a_ghost_is_seen_where_it_answers_later():
    static, continuous = compare(contest_of_preset(preset_of())).lanes
    short, long = pair_up(continuous.track, static.track, static.track.ended, 10)
    assert (short.request_id, long.request_id) == ("short", "long")
    assert short.tones[-1] is Tone.GHOST_END
    assert short.tones[2:-1] == (Tone.GHOST,) * 7
    assert short.later == pytest.approx(static.track.ended - 0.068, abs=0.01)
    told = str(tell_ghost(continuous, static))
    assert told.startswith("continuous answers 2 of 2 requests sooner than static, 0 later")


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


def test_departures_are_part_of_what_is_repeated():
    backend = StageBackend()
    mixed_traffic(backend)
    backend.run(30)
    backend.abort("r3")
    contest = contest_of_log(backend.log, 0, EngineSettings())
    assert contest.traffic.departures == (Abort(backend.now(), "r3"),)


def test_of_many_requests_the_last_are_repeated_and_the_contest_says_so():
    backend = StageBackend()
    for number in range(136):
        backend.submit(ask(f"r{number}", max_tokens=2))
    contest = contest_of_log(backend.log, 0, EngineSettings())
    assert [each.id for each in contest.traffic.recorded][::47] == ["r88", "r135"]
    assert contest.tell_requests() == "the last 48 of 136 requests"
    assert contest.tell_requests(is_brief=True) == "the last 48 of 136 requests"


def test_of_few_requests_all_are_repeated():
    backend = StageBackend()
    backend.submit(ask("r0"))
    backend.submit(ask("r1"))
    assert contest_of_log(backend.log, 0, EngineSettings()).tell_requests() == (
        "the same 2 requests"
    )


def test_what_is_compared_is_the_preset_that_plays_or_what_has_arrived():
    backend = StageBackend()
    session = Session(backend, backend.core.settings, spec=SPEC)
    assert choose_contest(session) is None
    session.injector.burst()
    assert choose_contest(session).traffic.num_requests == 24
    session.play_preset(preset_of())
    assert list(choose_contest(session).entries) == ["static", "continuous"]
    backend.run(3)
    session.injector.inject([(1, 2, 3)], [SamplingParams(max_tokens=3)])
    assert choose_contest(session).traffic.num_requests == 3


def test_the_usual_four_differ_from_the_settings_in_the_batcher_alone():
    own = EngineSettings(num_kv_blocks=300, enable_chunked_prefill=False)
    backend = StageBackend()
    backend.submit(ask())
    entries = contest_of_log(backend.log, 0, own).entries
    assert entries["static"] == replace(own, batcher=BatcherName.STATIC)
    assert entries["continuous"] == replace(own, enable_chunked_prefill=True)
    assert entries["whole prompts"] == own


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


@pytest.mark.parametrize(
    ("height", "slots", "picked", "rows"),
    [
        (30, (8, 8, 8), 0, (8, 8, 8)),
        (30, (8, 8, 8, 8), 2, (8, 4, 8, 4)),
        (20, (8, 8, 8, 8), 0, (4, 4, 4, 4)),
        (19, (8, 8, 8), 1, (4, 8, 4)),
        (20, (32, 32), 0, (9, 9)),
        (54, (64, 8), 1, (32, 8)),
        (4, (8, 8, 8, 8), 0, (1, 1, 1, 1)),
    ],
)
def test_lanes_share_the_height(height, slots, picked, rows):
    assert share_rows(height, slots, picked) == rows


def test_slots_share_rows_where_there_are_too_few():
    assert band_slots(2, 4, can_halve=True) == ((range(1),), (range(1, 2),))
    assert band_slots(4, 2, can_halve=True) == (
        (range(1), range(1, 2)),
        (range(2, 3), range(3, 4)),
    )
    assert band_slots(4, 2, can_halve=False) == ((range(2),), (range(2, 4),))
