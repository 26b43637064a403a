"""The map of a cache says what a cell stands for, and what it leaves out."""

from __future__ import annotations

from engine.settings import KvPolicy
from tests.tui.stage import mixed_traffic, staged
from tuiapp.widgets.kv_map import KvMap

CELLS = 56 * 5  # of the map on a terminal of 120 x 36


async def shown(traffic=None, passes=0, **knobs):
    """The title, the words below, and the rows."""
    async with staged((120, 36), traffic, **knobs) as stage:
        await stage.run(passes)
        stage.live.draw_all()
        kv_map = stage.app.screen.query_one(KvMap)
        assert kv_map.size.area == CELLS
        rows = str(kv_map.render()).splitlines()
        return str(kv_map.border_title), str(kv_map.border_subtitle), rows


async def test_a_cache_with_a_cell_for_each_block_is_shown_whole():
    title, below, rows = await shown(num_kv_blocks=256)
    assert title == "KV cache"
    assert below == "0 of 256 blocks × 16 tokens"
    assert sum(map(len, rows)) == 256


async def test_a_large_cache_says_that_only_its_beginning_is_shown():
    title, below, rows = await shown(mixed_traffic, 20, num_kv_blocks=4096)
    assert title == "KV cache · first 280 of 4,096 blocks"
    assert below.endswith("of 4096 blocks × 16 tokens")
    assert "r1" in rows[0]
    assert rows[-1] == "·" * 56


async def test_a_cell_stands_for_several_blocks_once_more_are_in_use():
    title, below, rows = await shown(
        mixed_traffic, 20, num_kv_blocks=4096, kv_policy=KvPolicy.RESERVE, reserve_tokens=1024
    )
    assert title == "KV cache · first 560 of 4,096 blocks"
    assert below == "1 cell = 2 blocks · 512 of 4096 blocks × 16 tokens"
    assert "".join(rows).rstrip("·").startswith("r")
