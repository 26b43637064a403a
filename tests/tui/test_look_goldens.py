"""The same moment in every look that one can choose, and the palette that chooses some of them."""

from __future__ import annotations

import pytest
from textual.command import CommandList, CommandPalette
from textual.widgets import Input

from tests.tui.goldens import check_screen, screen_lines, screen_text
from tests.tui.stage import SIZES, mixed_traffic, staged
from tuiapp.preferences import Found, Preferences

pytestmark = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")


def name(state, size):
    return f"{state}-{size[0]}x{size[1]}"


@pytest.mark.parametrize("theme", ["light", "high-contrast"])
async def test_live_in_another_theme(theme, size):
    own = Found(Preferences(theme=theme))
    async with staged(size, mixed_traffic, own=own, num_kv_blocks=60) as stage:
        await stage.run(120)
        check_screen(stage.app, name(f"live-{theme}", size))


async def test_live_without_colour(size, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    async with staged(size, mixed_traffic, num_kv_blocks=60) as stage:
        await stage.run(120)
        cells = [segment for line in screen_lines(stage.app) for segment in line]
        assert [each for each in cells if each.style.color or each.style.bgcolor] == []
        check_screen(stage.app, name("live-no-colour", size))


async def test_live_in_ascii(size):
    async with staged(size, mixed_traffic, ascii_only=True, num_kv_blocks=60) as stage:
        await stage.run(120)
        assert screen_text(stage.app).isascii()
        check_screen(stage.app, name("live-ascii", size))


async def test_the_palette(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(120)
        await stage.press("ctrl+p", *"theme", "colon")
        assert isinstance(stage.app.screen, CommandPalette)
        listed = stage.app.screen.query_one(CommandList)
        await stage.until(lambda: listed.option_count == 3)
        stage.app.screen.query_one(Input).cursor_blink = False
        await stage.settle()
        check_screen(stage.app, name("palette", size))
