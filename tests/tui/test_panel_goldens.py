"""The panels over the live screen, at both sizes, as they were when somebody last looked."""

from __future__ import annotations

import pytest

from tests.tui.goldens import check_screen
from tests.tui.stage import SIZES, mixed_traffic, staged

pytestmark = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")


def name(state, size):
    return f"{state}-{size[0]}x{size[1]}"


async def test_knobs(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(120)
        await stage.press("k", "down", "down")
        check_screen(stage.app, name("knobs", size))


async def test_knobs_of_a_named_system(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(120)
        await stage.press("k", "m", "m", "m")
        check_screen(stage.app, name("knobs-system", size))


async def test_a_knob_that_cannot_be_set_so(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(120)
        await stage.press("k", "down", "enter", "backspace", *"600", "enter")
        check_screen(stage.app, name("knobs-refused", size))


async def test_command_lines(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(120)
        await stage.press("k", "y", "down", "down", "down")
        check_screen(stage.app, name("commands", size))


async def test_the_story_of_a_named_system(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(120)
        await stage.press("m", "m")
        await stage.run(20)
        check_screen(stage.app, name("live-system", size))
