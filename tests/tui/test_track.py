"""What a lane did in every slot at every moment, and how it is drawn."""

from __future__ import annotations

import pytest

from engine.events import Step, Work
from tests.builders import ask, events_of, make_core
from tests.tui.lanes import compare, preset_of
from tuiapp.lanes import contest_of_preset
from tuiapp.lanes.ghost import Tone, pair_up, tell_ghost
from tuiapp.lanes.layout import band_slots, share_rows
from tuiapp.lanes.raster import draw_slots
from tuiapp.lanes.track import Track
from tuiapp.presets import find_preset
from tuiapp.view.phases import GLYPHS


def drawn(lane, width=20):
    span = lane.track.ended
    rows = [draw_slots(lane.track, range(s, s + 1), span, width) for s in range(2)]
    return ["".join(GLYPHS[c.phase] if c else " " for c in row) for row in rows]


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
