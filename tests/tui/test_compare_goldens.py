"""The compare screen in its states, as it was when somebody last looked at it."""

from __future__ import annotations

import pytest

from tests.tui.comparing import draw, finish, open_preset, press
from tests.tui.goldens import check_screen, screen_text
from tests.tui.stage import SIZES, mixed_traffic, staged

sizes = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")


def name(state, size):
    return f"{state}-{size[0]}x{size[1]}"


@pytest.mark.parametrize("size", [*SIZES, (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_a_comparison_of_what_arrived(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(60)
        await stage.press("c")
        await finish(stage)
        check_screen(stage.app, name("compare", size))


@sizes
async def test_a_comparison_that_runs(size):
    async with staged(size) as stage:
        await open_preset(stage)
        stage.backend.run(600)
        await draw(stage)
        check_screen(stage.app, name("compare-runs", size))


@sizes
async def test_a_moment_of_a_comparison(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(60)
        await stage.press("c")
        await finish(stage)
        await press(stage, "home", *["shift+right"] * 3, "down", "down")
        check_screen(stage.app, name("compare-moment", size))


@sizes
async def test_the_lanes_to_choose_from(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(60)
        await stage.press("c")
        await finish(stage)
        for key in ("e", "space", "a", "2", "d", "down", "m"):
            await stage.pilot.press(key)
            await stage.pilot.pause()
        check_screen(stage.app, name("compare-lanes", size))


@sizes
async def test_a_ghost(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(60)
        await stage.press("c")
        await finish(stage)
        await press(stage, "g", "down")
        check_screen(stage.app, name("compare-ghost", size))


@sizes
async def test_a_comparison_in_ascii(size):
    async with staged(size, mixed_traffic, ascii_only=True) as stage:
        await stage.run(60)
        await stage.press("c")
        await finish(stage)
        text = screen_text(stage.app)
        assert text.isascii()
        assert "#" in text
        check_screen(stage.app, name("compare-ascii", size))
        await press(stage, "g")
        assert screen_text(stage.app).isascii()
        assert "~@" in screen_text(stage.app)
