"""Which requests some words mean, and what the live screen then shows."""

from __future__ import annotations

import pytest

from engine.settings import BatcherName
from tests.tui.goldens import check_screen, screen_text
from tests.tui.stage import SIZES, mixed_traffic, staged
from tuiapp.screens.inspect import InspectScreen
from tuiapp.view.filtering import Filter, state_of
from tuiapp.widgets.filter_bar import FilterBar
from tuiapp.widgets.kv_map import KvMap
from tuiapp.widgets.lines import StoryLine
from tuiapp.widgets.queue_panel import QueuePanel
from tuiapp.widgets.timeline import Timeline
from tuiapp.widgets.token_pane import TokenPane


def panes(stage):
    return [pane.request_id for pane in stage.app.query(TokenPane) if pane.request_id]


async def test_every_word_has_to_match_id_label_state_or_text():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(60)
        shown = stage.live.snapshot
        running, waiting = shown.slots[0], shown.waiting[0]
        assert (state_of(running), state_of(waiting)) == ("running decode", "waiting")
        assert Filter("").matches(running)
        assert Filter(f"{running.id.upper()} DECODE mix").matches(running)
        assert Filter(running.text.split()[0]).matches(running)
        assert not Filter("decode").matches(waiting)
        assert not Filter(f"{running.id} waiting").matches(running)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_only_those_that_match_are_shown_and_counted(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(60)
        await stage.press("slash", *"r1")
        assert all(request_id.startswith("r1") for request_id in panes(stage))
        check_screen(stage.app, f"live-filter-{size[0]}x{size[1]}")


async def test_enter_keeps_the_filter_and_escape_takes_it_away():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(60)
        before = panes(stage)
        await stage.press("slash", *"waiting", "enter")
        assert panes(stage) == []
        assert "enter keeps it, esc clears it" in screen_text(stage.app)
        await stage.press("space")
        assert "paused" in screen_text(stage.app)
        await stage.press("escape")
        assert panes(stage) == before
        assert not stage.app.screen.query_one(FilterBar).has_class("-open")


async def test_arrows_and_the_inspector_go_through_those_that_match():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(60)
        await stage.press("slash", *"waiting", "enter", "down", "enter")
        assert isinstance(stage.app.screen, InspectScreen)
        count = len(stage.live.snapshot.waiting)
        assert f"(1 of {count})" in screen_text(stage.app)


async def test_a_click_on_a_pane_a_queue_entry_and_a_block_opens_the_request():
    async with staged(traffic=mixed_traffic, max_num_seqs=4) as stage:
        await stage.run(30)
        shown = stage.live.snapshot
        for target, offset, request_id in (
            (TokenPane, (3, 1), shown.slots[0].id),
            (QueuePanel, (4, 2), shown.waiting[1].id),
            ("KvMap", (2, 1), shown.block_owners[0]),
        ):
            await stage.pilot.click(target, offset=offset)
            await stage.settle()
            assert isinstance(stage.app.screen, InspectScreen)
            assert str(stage.app.screen.query_one("#dialog").border_title).startswith(request_id)
            await stage.press("escape")


async def test_the_wheel_reaches_those_at_the_end_of_the_queue():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(10)
        queue = stage.app.query_one(QueuePanel)
        for _ in range(60):
            queue.on_mouse_scroll_down()
        await stage.settle()
        assert stage.live.snapshot.waiting[-1].id in str(queue.render())


async def test_a_click_on_the_story_opens_the_request_that_it_is_about():
    async with staged(traffic=mixed_traffic, batcher=BatcherName.STATIC) as stage:
        await stage.run(100)
        longest = max(
            (view for view in stage.live.snapshot.slots if view.reason is None),
            key=lambda view: view.max_tokens - view.num_output_tokens,
        )
        await stage.pilot.click(StoryLine, offset=(10, 0))
        await stage.settle()
        assert isinstance(stage.app.screen, InspectScreen)
        assert str(stage.app.screen.query_one("#dialog").border_title).startswith(longest.id)


async def test_what_lies_under_the_mouse_is_named():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(60)
        await stage.pilot.hover(Timeline, offset=(24, 4))
        assert str(stage.app.query_one(Timeline).tooltip) == "pass 21: r4, decode"
        await stage.pilot.hover(KvMap, offset=(2, 1))
        owner = stage.live.snapshot.block_owners[0]
        assert str(stage.app.query_one(KvMap).tooltip) == f"block 0: {owner}"
