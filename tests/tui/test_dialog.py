"""What all dialogs have in common."""

from __future__ import annotations

import pytest

from tests.tui.goldens import screen_text
from tests.tui.stage import staged
from tuiapp.library.library import Library
from tuiapp.screens.dialog import Dialog


async def test_spelled_keys_leave_room_for_the_way_out(tmp_path):
    async with staged((80, 24), ascii_only=True, library=Library(tmp_path)) as stage:
        await stage.press("o")
        assert "esc close -+" in screen_text(stage.app)


@pytest.mark.parametrize("key", ["a", "k", "l", "o", "p", "u", "w", "question_mark"])
async def test_a_dialog_is_closed_by_a_click_on_the_words_that_say_how(key, tmp_path):
    async with staged((120, 36), library=Library(tmp_path)) as stage:
        await stage.press(key)
        assert isinstance(stage.app.screen, Dialog)
        frame = stage.app.screen.query_one("#dialog").region
        await stage.pilot.click(offset=(frame.right - 6, frame.bottom - 1))
        await stage.settle()
        assert not isinstance(stage.app.screen, Dialog)


async def test_a_dialog_is_closed_by_a_click_beside_it_but_not_in_it(tmp_path):
    async with staged((120, 36), library=Library(tmp_path)) as stage:
        await stage.press("u")
        frame = stage.app.screen.query_one("#dialog").region
        await stage.pilot.click(offset=(frame.x + 2, frame.y + 1))
        assert isinstance(stage.app.screen, Dialog)
        await stage.pilot.click(offset=(frame.x - 2, frame.y + 1))
        await stage.settle()
        assert not isinstance(stage.app.screen, Dialog)
