"""Every dialog and screen in terminals that are too small for anything."""

from __future__ import annotations

from itertools import product

import pytest

from tests.tui.stage import mixed_traffic, staged

TINY = [*product((1, 4, 6, 10), (1, 3, 4))]
OPENED_BY = ["slash", "question_mark", "enter", *"rkiwlaupjoc"]


@pytest.mark.parametrize("key", OPENED_BY)
async def test_nothing_is_too_small_for_what_a_key_opens(key):
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(60)
        await stage.press("down", key)
        for size in TINY:
            await stage.pilot.resize_terminal(*size)
        await stage.pilot.resize_terminal(120, 36)
        await stage.settle()
        assert stage.app.is_running
