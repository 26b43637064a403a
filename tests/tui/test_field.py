"""The cursor of a line to type into."""

from __future__ import annotations

from textual.widgets import Input

from tests.tui.stage import staged


async def test_no_cursor_blinks_where_nothing_is_to_move():
    async with staged() as stage:
        assert stage.app.animation_level == "none"
        for keys in (("i",), ("escape", "k"), ("escape", "slash")):
            await stage.press(*keys)
            fields = list(stage.app.screen.query(Input))
            assert fields
            assert not any(field.cursor_blink for field in fields)


async def test_it_blinks_elsewhere():
    async with staged() as stage:
        stage.app.animation_level = "full"
        await stage.press("i")
        assert all(field.cursor_blink for field in stage.app.screen.query(Input))
