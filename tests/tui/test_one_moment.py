"""Every frame of the live screen shows one moment: no part of it contradicts another."""

from __future__ import annotations

import re

import pytest

from engine.settings import BatcherName
from tests.tui.goldens import screen_text
from tests.tui.stage import mixed_traffic, staged

NUM_FRAMES = 200


def numbers(pattern: str, text: str) -> list[int]:
    return [int(number) for number in re.findall(pattern, text)]


@pytest.mark.parametrize(
    "knobs", [{"num_kv_blocks": 40}, {"batcher": BatcherName.STATIC}], ids=["continuous", "static"]
)
async def test_the_parts_of_every_frame_agree(knobs):
    async with staged(traffic=mixed_traffic, **knobs) as stage:
        shown = set()
        for _ in range(NUM_FRAMES):
            stage.backend.run(1)
            stage.live.draw()
            await stage.pilot.pause()
            text = screen_text(stage.app)
            queue, waiting = numbers(r"queue +(\d+)", text), numbers(r"(\d+) waiting", text)
            used, held = numbers(r"KV blocks +(\d+)/", text), numbers(r"(\d+) of \d+ blocks", text)
            assert queue == waiting
            assert used == held
            shown.add((*queue, *used))
        assert len(shown) > 20
