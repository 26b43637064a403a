"""Every state of every screen, at both sizes, as it was when somebody last looked at it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.settings import BatcherName, KvPolicy
from tests.tui.goldens import check_screen
from tests.tui.stage import SIZES, alike_traffic, mixed_traffic, staged
from tuiapp.presets import list_presets

pytestmark = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
PRESETS = Path(__file__).parent / "presets"


def name(state, size):
    return f"{state}-{size[0]}x{size[1]}"


@pytest.mark.parametrize("batcher", list(BatcherName), ids=lambda batcher: batcher.value)
async def test_live(batcher, size):
    async with staged(size, mixed_traffic, batcher=batcher) as stage:
        await stage.run(196)
        check_screen(stage.app, name(f"live-{batcher.value}", size))


async def test_live_with_whole_prompts(size):
    async with staged(size, mixed_traffic, enable_chunked_prefill=False) as stage:
        await stage.run(120)
        check_screen(stage.app, name("live-whole-prompts", size))


async def test_live_out_of_blocks(size):
    async with staged(size, mixed_traffic, num_kv_blocks=40) as stage:
        await stage.run(150)
        check_screen(stage.app, name("live-out-of-blocks", size))


async def test_live_with_reserved_memory(size):
    knobs = {"kv_policy": KvPolicy.RESERVE, "reserve_tokens": 1024}
    async with staged(size, mixed_traffic, **knobs) as stage:
        await stage.run(100)
        check_screen(stage.app, name("live-reserve", size))


async def test_live_with_nothing_to_do(size):
    async with staged(size) as stage:
        check_screen(stage.app, name("live-idle", size))


async def test_live_waiting_for_company(size):
    async with staged(size, batcher=BatcherName.STATIC) as stage:
        await stage.press("i", "tab", "tab", "tab", "backspace", "3", "enter")
        await stage.run(1)
        check_screen(stage.app, name("live-company", size))


async def test_live_with_requests_of_ones_own(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(60)
        await stage.press("b")
        stage.app.clear_notifications()
        await stage.run(330)
        await stage.press("down", "down")
        check_screen(stage.app, name("live-mine", size))


async def test_live_paused(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(50)
        await stage.press("space")
        check_screen(stage.app, name("live-paused", size))


async def test_inject(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(196)
        await stage.press("i", *"Tell me [a] story")
        check_screen(stage.app, name("inject", size))


async def test_inject_what_will_be_refused(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(20)
        await stage.press("i", "tab", *"9999")
        check_screen(stage.app, name("inject-refused", size))


async def test_picker(size, monkeypatch):
    monkeypatch.setattr("tuiapp.screens.live.list_presets", lambda: list_presets((PRESETS,)))
    async with staged(size, mixed_traffic) as stage:
        await stage.run(196)
        await stage.press("w", "down")
        check_screen(stage.app, name("picker", size))


async def test_help(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(196)
        await stage.press("question_mark")
        check_screen(stage.app, name("help", size))


async def test_a_failed_pass(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(60)
        stage.backend.runner.fails_next = True
        await stage.run(2)
        check_screen(stage.app, name("failure", size))


async def test_inspect(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(196)
        await stage.press("down", "down", "enter")
        check_screen(stage.app, name("inspect", size))


async def test_live_with_a_shared_prefix(size):
    async with staged(size, alike_traffic, enable_prefix_caching=True, max_num_seqs=6) as stage:
        await stage.run(60)
        check_screen(stage.app, name("live-prefix", size))
