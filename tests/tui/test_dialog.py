"""The keys in the lower border of a dialog."""

from __future__ import annotations

import pytest

from tests.tui.goldens import screen_text
from tests.tui.stage import staged
from tuiapp.library.library import Library
from tuiapp.screens.dialog import fit_hint

HINT = "⏎ report   p replay   d delete   esc close"


@pytest.mark.parametrize(
    ("room", "shown"),
    [
        (42, HINT),
        (41, "⏎ report  p replay  d delete  esc close"),
        (38, "⏎ report  p replay  esc close"),
        (28, "⏎ report  esc close"),
        (12, "esc close"),
    ],
)
def test_a_hint_has_room_for_its_last_key(room, shown):
    assert fit_hint(HINT, room) == shown


async def test_spelled_keys_leave_room_for_the_way_out(tmp_path):
    async with staged((80, 24), ascii_only=True, library=Library(tmp_path)) as stage:
        await stage.press("o")
        assert "esc close -+" in screen_text(stage.app)
