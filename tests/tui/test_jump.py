"""Going to a panel by a letter, and what it then says of itself."""

from __future__ import annotations

import pytest

from tests.tui.goldens import check_screen, screen_text
from tests.tui.stage import SIZES, mixed_traffic, staged
from tuiapp.screens.live import LiveScreen
from tuiapp.widgets.kv_map import KvMap
from tuiapp.widgets.token_pane import TokenPane


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_every_panel_has_a_letter(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(60)
        await stage.press("j")
        check_screen(stage.app, f"jump-{size[0]}x{size[1]}")


async def test_a_letter_goes_to_its_panel_whose_help_comes_first():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(60)
        await stage.press("j", "k")
        assert isinstance(stage.app.focused, KvMap)
        await stage.press("question_mark")
        text = screen_text(stage.app)
        assert text.index("The KV cache block by block") < text.index("Static batching")


async def test_a_digit_goes_to_a_pane_and_escape_nowhere():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.press("j", "3")
        assert isinstance(stage.app.focused, TokenPane)
        assert stage.app.focused.slot == 2
        await stage.press("j", "x", "escape")
        assert isinstance(stage.app.screen, LiveScreen)
        assert stage.app.focused.slot == 2


async def test_a_panel_that_has_no_room_has_no_letter():
    async with staged((80, 24), mixed_traffic) as stage:
        await stage.press("j", "q")
        assert not isinstance(stage.app.screen, LiveScreen)


async def test_a_resize_takes_the_letters_away():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.press("j")
        await stage.pilot.resize_terminal(100, 30)
        await stage.settle()
        assert isinstance(stage.app.screen, LiveScreen)
