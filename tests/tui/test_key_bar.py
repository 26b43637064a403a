"""The footer at every width: whole keys, and always help and the way out."""

from __future__ import annotations

import pytest

from tests.tui.goldens import screen_text
from tests.tui.stage import staged
from tuiapp.preferences import Found, Preferences

WIDE = (
    "1/2/3 Batcher  b Burst  w Workload  c Compare  l Lessons  k Knobs  space Pause  i Inject  "
    "⏎ Inspect  ? Help  q Quit"
)


def last_line(stage):
    return screen_text(stage.app).splitlines()[-1].strip()


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (80, "1/2/3 Batcher  b Burst  w Workload  c Compare  l Lessons  ? Help  q Quit"),
        (86, "1/2/3 Batcher  b Burst  w Workload  c Compare  l Lessons  k Knobs  ? Help  q Quit"),
        (120, WIDE),
    ],
)
async def test_what_has_no_room_is_left_out_whole(width, shown):
    async with staged((width, 36)) as stage:
        assert last_line(stage) == shown


async def test_it_follows_the_terminal():
    async with staged((80, 24)) as stage:
        await stage.pilot.resize_terminal(120, 36)
        await stage.settle()
        assert last_line(stage) == WIDE


async def test_spelled_keys_take_the_room_that_they_take():
    async with staged((110, 36), own=Found(Preferences(ascii=True))) as stage:
        assert last_line(stage).endswith("i Inject  ? Help  q Quit")


async def test_a_key_of_ones_own_stays_in_its_place():
    async with staged((80, 24), own=Found(Preferences(keys={"burst": "f5"}))) as stage:
        assert last_line(stage).startswith("1/2/3 Batcher  f5 Burst  w Workload")


async def test_a_comparison_has_help_and_the_way_back():
    async with staged((80, 24)) as stage:
        await stage.press("b", "c")
        assert "? Help" in last_line(stage)
        assert "esc Back" in last_line(stage)
