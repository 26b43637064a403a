"""The compare screen under its keys, on a whole engine without a thread."""

from __future__ import annotations

from itertools import chain

import pytest
from textual.widgets import Static

from engine.settings import BatcherName
from tests.builders import ask
from tests.tui.comparing import draw, finish, open_preset, press
from tests.tui.goldens import screen_text
from tests.tui.stage import mixed_traffic, staged
from tuiapp.presets import find_preset
from tuiapp.screens.compare import CompareScreen
from tuiapp.screens.help import HelpScreen
from tuiapp.screens.inspect import InspectScreen
from tuiapp.screens.knobs import KnobsScreen
from tuiapp.screens.lanes import LanesScreen
from tuiapp.screens.live import LiveScreen
from tuiapp.screens.picker import Choice, PickerScreen
from tuiapp.widgets.ghost_rows import GhostRows
from tuiapp.widgets.lane_rows import WIDE_GUTTER, LaneRows


def verdict(stage):
    return str(stage.app.screen.query_one("#verdict", Static).render())


async def test_without_colour_no_lane_is_drawn_by_colour_alone(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    async with staged((80, 24), mixed_traffic) as stage:
        await stage.run(60)
        await stage.press("c")
        await finish(stage)
        assert "▀" not in screen_text(stage.app)
        assert "░" in screen_text(stage.app)


async def test_c_compares_the_preset_that_plays_and_says_who_wins():
    async with staged() as stage:
        screen = await open_preset(stage)
        assert isinstance(screen, CompareScreen)
        await finish(stage)
        assert [lane.name for lane in screen.view.lanes] == ["static", "dynamic", "continuous"]
        assert verdict(stage).startswith("▸ continuous wins: median first token 271× sooner")
        assert "3 of the preset's 3 claims hold" in verdict(stage)
        assert "simulated" in screen_text(stage.app)


def crowd(backend):
    for number in range(136):
        backend.submit(ask(f"r{number}", max_tokens=2))


async def test_the_head_says_that_only_the_last_of_many_requests_are_compared():
    async with staged((120, 36), crowd) as stage:
        await stage.run(9)
        await stage.press("c")
        assert "as run live · the last 48 of 136 requests · " in screen_text(stage.app)


async def test_c_with_nothing_to_compare_says_so():
    async with staged() as stage:
        await stage.press("c")
        assert isinstance(stage.app.screen, LiveScreen)
        assert "Nothing has arrived that could be compared" in screen_text(stage.app)


@pytest.mark.parametrize("key", ["escape", "c", "q"])
async def test_leaving_in_mid_run_gives_the_engine_back_as_it_was(key):
    async with staged(traffic=mixed_traffic, batcher=BatcherName.DYNAMIC) as stage:
        await stage.run(30)
        before = stage.backend.core.settings
        waiting = [seq.id for seq in stage.backend.core.queues.waiting]
        await stage.press("c")
        stage.backend.run(100)
        await stage.pilot.press(key)
        await stage.run(1)
        assert isinstance(stage.app.screen, LiveScreen)
        assert stage.backend.visit is None
        assert stage.backend.core.settings == before
        assert [seq.id for seq in stage.backend.core.queues.waiting][-len(waiting) :] == waiting
        passes = stage.app.screen.snapshot.num_passes
        await stage.run(20)
        assert stage.app.screen.snapshot.num_passes == passes + 20


async def test_scrubbing_moves_all_lanes_to_the_same_moment():
    async with staged() as stage:
        screen = await open_preset(stage)
        await finish(stage)
        await press(stage, "home")
        assert screen.view.cursor == 0.0
        await press(stage, "right", "shift+right")
        size = screen.comparison.span / screen.view.num_cells
        assert screen.view.cursor == pytest.approx(11 * size, rel=0.1)
        text = screen_text(stage.app)
        assert "1 at work, 7 held idle, 8 wait · " in text
        await press(stage, "left")
        assert screen.view.cursor == pytest.approx(10 * size, rel=0.1)
        await press(stage, "end")
        assert screen.view.cursor == screen.comparison.span
        await press(stage, "f")
        assert screen.view.cursor is None


async def test_the_gutter_names_who_holds_each_slot_at_the_moment():
    async with staged() as stage:
        await open_preset(stage)
        await finish(stage)
        assert "7 straggler" not in screen_text(stage.app)
        await press(stage, "home", "shift+right")
        assert screen_text(stage.app).count("7 straggler") == 3


async def test_space_plays_all_lanes_again_from_the_beginning(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("tuiapp.screens.compare.monotonic", lambda: now[0])
    async with staged() as stage:
        screen = await open_preset(stage)
        await finish(stage)
        await press(stage, "space")
        assert screen.view.cursor == 0.0
        now[0] += 2.5
        await draw(stage)
        assert screen.view.cursor == 2.5
        await press(stage, "space")
        now[0] += 1.0
        await draw(stage)
        assert screen.view.cursor == 2.5
        await press(stage, "space")
        now[0] += 60.0
        await draw(stage)
        assert screen.view.cursor == screen.comparison.span


async def test_keys_1_to_4_hide_lanes_and_show_them():
    async with staged() as stage:
        screen = await open_preset(stage)
        await finish(stage)
        await press(stage, "2")
        assert [lane.name for lane in screen.view.lanes] == ["static", "continuous"]
        await press(stage, "1")
        assert "A comparison needs two lanes" in screen_text(stage.app)
        await press(stage, "2")
        assert len(screen.view.lanes) == 3


async def test_v_changes_between_the_variants_and_every_batcher():
    async with staged() as stage:
        screen = await open_preset(stage)
        await press(stage, "v")
        names = [lane.name for lane in screen.view.lanes]
        assert names == ["static", "dynamic", "continuous", "whole prompts"]
        await finish(stage)
        await press(stage, "v")
        assert [lane.name for lane in screen.view.lanes] == ["static", "dynamic", "continuous"]


async def test_e_chooses_lanes_with_any_batcher_and_any_knobs():
    async with staged() as stage:
        screen = await open_preset(stage)
        await finish(stage)
        kept = screen.comparison.lanes[2]
        await press_alone(stage, "e")
        assert isinstance(stage.app.screen, LanesScreen)
        await press_alone(stage, "d", "a", "1", "enter")
        assert isinstance(stage.app.screen, KnobsScreen)
        while stage.app.screen._knob.name != "max_batch_size":
            await press_alone(stage, "down")
        await press_alone(stage, "left", "escape")
        assert "static, max_batch_size 4" in screen_text(stage.app)
        await press_alone(stage, "r")
        stage.backend.run(1)
        await finish(stage)
        assert [lane.name for lane in screen.view.lanes] == [
            "dynamic",
            "static, max_batch_size 4",
            "continuous",
        ]
        assert screen.comparison.lanes[2] is kept
        assert verdict(stage).startswith("▸ continuous wins")
        assert stage.app.session.settings.max_batch_size == 8


async def test_lanes_that_cannot_be_compared_are_not_run():
    async with staged() as stage:
        screen = await open_preset(stage)
        before = screen.comparison
        await press_alone(stage, "e", "space", "down", "space", "r")
        assert isinstance(stage.app.screen, LanesScreen)
        assert "1 lanes are marked to be shown; choose 2 to 4" in screen_text(stage.app)
        await press_alone(stage, "escape")
        assert screen.comparison is before


async def test_r_repeats_the_lanes_and_counts_the_earlier_runs():
    async with staged() as stage:
        screen = await open_preset(stage)
        await finish(stage)
        await press(stage, "r")
        assert "about" in screen_text(stage.app)
        await finish(stage)
        assert [lane.num_runs for lane in screen.view.lanes] == [2, 2, 2]
        assert [len(lane.values("out_tps")) for lane in screen.view.lanes] == [2, 2, 2]


async def test_w_compares_another_preset_and_r_the_same_again():
    async with staged() as stage:
        screen = await open_preset(stage)
        await stage.pilot.press("w")
        await stage.pilot.pause()
        assert isinstance(stage.app.screen, PickerScreen)
        await stage.app.workers.wait_for_complete()
        stage.app.screen.dismiss(Choice(find_preset("even-outputs"), is_to_compare=True))
        await stage.pilot.pause()
        stage.backend.run(1)
        await finish(stage)
        assert screen.comparison.contest.name == "even-outputs"
        first = screen.comparison
        await press(stage, "r")
        await finish(stage)
        assert screen.comparison is not first
        assert [each.report() for each in first.lanes] == [
            each.report() for each in screen.comparison.lanes
        ]


async def test_enter_opens_the_life_of_the_request_in_the_marked_slot():
    async with staged() as stage:
        screen = await open_preset(stage)
        await finish(stage)
        await press(stage, "home", "shift+right", "tab", *["down"] * 7)
        await stage.pilot.press("enter")
        for _ in range(3):
            await stage.pilot.pause()
        life = stage.app.screen
        assert isinstance(life, InspectScreen)
        life.draw()
        await stage.pilot.pause()
        assert "straggler" in screen_text(stage.app)
        assert "x abort" not in screen_text(stage.app)
        await stage.pilot.press("x", "escape")
        await stage.pilot.pause()
        assert stage.app.screen is screen


async def test_enter_where_nobody_is_takes_who_is_nearest():
    async with staged() as stage:
        screen = await open_preset(stage)
        await finish(stage)
        assert not any(screen.view.lanes[0].moment(None).slots)
        await stage.press("enter")
        assert isinstance(stage.app.screen, InspectScreen)
        longest = max(each.ended for each in chain(*screen.view.lanes[0].track.slots))
        last = [e for e in chain(*screen.view.lanes[0].track.slots) if e.ended == longest]
        assert any(each.request_id in screen_text(stage.app) for each in last)


async def test_enter_before_anybody_ran_says_so():
    async with staged() as stage:
        await open_preset(stage)
        await press(stage, "enter")
        assert "No request is there" in screen_text(stage.app)


async def test_a_click_picks_the_lane_and_the_moment():
    async with staged() as stage:
        screen = await open_preset(stage)
        await finish(stage)
        rows = list(screen.query(LaneRows))[1]
        await stage.pilot.click(rows, offset=(WIDE_GUTTER + 20, 3))
        await draw(stage)
        size = screen.comparison.span / screen.view.num_cells
        assert screen.view.cursor == pytest.approx(20.5 * size)
        lane, request_id = screen.view.marked()
        assert (lane.name, request_id) == ("dynamic", "short-3")
        await stage.pilot.click(rows, offset=(2, 7))
        assert screen.view.marked()[1] == "straggler"


async def test_tab_picks_which_two_lanes_lie_over_each_other():
    async with staged() as stage:
        screen = await open_preset(stage)
        await finish(stage)
        await press(stage, "g")
        assert "continuous over the ghost of static" in screen_text(stage.app)
        assert verdict(stage).startswith("▸ continuous answers 16 of 16 requests sooner")
        await press(stage, "tab")
        assert "continuous over the ghost of dynamic" in screen_text(stage.app)
        await press(stage, "shift+tab", "shift+tab")
        assert "dynamic over the ghost of continuous" in screen_text(stage.app)
        await stage.pilot.click(screen.query_one(GhostRows), offset=(WIDE_GUTTER + 8, 7))
        await draw(stage)
        assert screen.view.place == 7
        assert screen.view.cursor is not None
        await press(stage, "g")
        assert "7 held idle" in screen_text(stage.app)


async def test_a_terminal_that_is_too_small_is_told_so_and_the_lanes_run_on():
    async with staged((63, 20)) as stage:
        await open_preset(stage)
        await finish(stage)
        assert "batchscope needs 80×24, now 63×20" in screen_text(stage.app)
        await stage.pilot.resize_terminal(80, 24)
        await draw(stage)
        assert "continuous wins" in screen_text(stage.app)


async def test_help_explains_the_keys_of_this_screen():
    async with staged() as stage:
        await open_preset(stage)
        await press_help(stage)
        assert isinstance(stage.app.screen, HelpScreen)
        assert "Two lanes over each other, by request" in screen_text(stage.app)


async def press_alone(stage, *keys):
    """Press keys of a dialog over the comparison."""
    for key in keys:
        await stage.pilot.press(key)
        await stage.pilot.pause()


async def press_help(stage):
    await stage.pilot.press("question_mark")
    await stage.pilot.pause()


async def test_keys_before_anything_ran_do_no_harm():
    async with staged() as stage:
        screen = await open_preset(stage)
        keys = ["g", "tab", "down", "up", "left", "right", "home", "end", "f", "g", "down", "up"]
        for key in [*keys, "tab", "2", "enter", "space", "space"]:
            await press(stage, key)
        await finish(stage)
        assert verdict(stage).startswith("▸ continuous wins")
        assert screen.is_active
