"""Attacks on a whole engine without a thread, and their menu."""

from __future__ import annotations

import pytest

from engine.events import Arrived, Finished
from engine.request import FinishReason
from engine.settings import BatcherName, KvPolicy
from tests.tui.stage import mixed_traffic, staged
from tuiapp.attacks import burst_size
from tuiapp.knobs import list_knobs
from tuiapp.screens.attack import AttackScreen
from tuiapp.screens.live import LiveScreen


def events_of(stage, kind):
    return [event for event in stage.backend.log.since(0)[0] if isinstance(event, kind)]


def blocks(stage):
    return stage.backend.core.queues.pool.num_blocks


async def test_a_opens_a_menu_and_a_number_strikes_and_closes_it():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(20)
        await stage.press("a")
        assert isinstance(stage.app.screen, AttackScreen)
        await stage.press("2")
        assert isinstance(stage.app.screen, LiveScreen)
        assert len(events_of(stage, Arrived)) == 40 + burst_size() == 136


async def test_arrows_and_enter_strike_too():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(20)
        await stage.press("a", "down", "enter")
        assert isinstance(stage.app.screen, LiveScreen)
        assert len(events_of(stage, Arrived)) == 40 + burst_size()


@pytest.mark.parametrize(
    ("knobs", "length"),
    [
        ({"num_kv_blocks": 256}, 4096 - 16),
        ({"num_kv_blocks": 300}, 4096 - 16),
        ({"num_kv_blocks": 100}, 1600 - 16),
        ({"max_model_len": 512}, 512 - 16),
    ],
)
async def test_the_bomb_is_the_longest_prompt_that_is_not_refused(knobs, length):
    async with staged(**knobs) as stage:
        await stage.press("a", "1")
        [arrived] = events_of(stage, Arrived)
        assert len(arrived.request.prompt_token_ids) == length
        await stage.run(200)
        [ended] = events_of(stage, Finished)
        assert ended.reason is FinishReason.LENGTH


async def test_the_storm_cancels_every_other_request_and_only_those():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(1)
        await stage.press("a", "3")
        aborted = [e.request_id for e in events_of(stage, Finished)]
        assert aborted == [f"r{number}" for number in range(0, 40, 2)]


async def test_with_nobody_there_nobody_hangs_up():
    async with staged() as stage:
        await stage.press("a", "3")
        assert not events_of(stage, Finished)


async def test_the_squeeze_shrinks_the_cache_and_the_same_key_gives_it_back():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(60)
        await stage.press("a", "4")
        assert blocks(stage) == 64
        await stage.run(100)
        assert stage.app.screen.snapshot.meters.num_preemptions > 8
        await stage.press("a", "4")
        assert blocks(stage) == 256
        await stage.press("a", "4")
        assert blocks(stage) == 64


async def test_a_squeeze_that_a_knob_has_undone_is_a_new_one():
    names = [knob.name for knob in list_knobs()]
    rows = names.index("num_kv_blocks") - names.index("max_num_seqs")
    async with staged(num_kv_blocks=256) as stage:
        await stage.press("a", "4", "k", *["down"] * rows, "right", "escape")
        assert blocks(stage) == 128
        await stage.press("a", "4")
        assert blocks(stage) == 32


async def test_the_squeeze_leaves_room_for_one_reserved_context():
    knobs = {"kv_policy": KvPolicy.RESERVE, "reserve_tokens": 2048}
    async with staged(batcher=BatcherName.CONTINUOUS, **knobs) as stage:
        await stage.press("a", "4")
        assert blocks(stage) == 128


async def test_a_squeeze_loses_no_token_of_what_still_fits():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(60)
        await stage.press("a", "4")
        await stage.run(2000)
        ended = events_of(stage, Finished)
        assert len(ended) == 40
        assert {event.reason for event in ended} == {FinishReason.LENGTH}
