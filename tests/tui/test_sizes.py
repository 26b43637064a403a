"""Terminals of every size, and of sizes that change."""

from __future__ import annotations

import random
import re
from contextlib import closing

import pytest

from tests.tui.goldens import check_screen, screen_text
from tests.tui.in_a_terminal import Terminal
from tests.tui.stage import mixed_traffic, staged
from tuiapp.widgets.timeline import Timeline

CONTROLS = re.compile(rb"(\x1b\[[<>=?]?[0-9;]*[A-Za-z])+")


@pytest.mark.parametrize("size", [(250, 70), (160, 45)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_a_large_terminal_is_used(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(300)
        check_screen(stage.app, f"live-continuous-{size[0]}x{size[1]}")


async def test_fifty_resizes_while_it_runs_do_no_harm():
    sizes = random.Random(7)
    async with staged(traffic=mixed_traffic) as stage:
        for _ in range(50):
            stage.backend.run(2)
            await stage.pilot.resize_terminal(sizes.randint(1, 250), sizes.randint(1, 70))
        await stage.pilot.resize_terminal(120, 36)
        await stage.settle()
        assert stage.live.snapshot.num_passes == 100
        assert stage.app.query_one(Timeline).num_rows == 8
        assert "Inspect" in screen_text(stage.app)


async def test_below_the_minimum_one_line_says_so_and_no_toast_covers_it():
    async with staged((60, 10), mixed_traffic) as stage:
        await stage.press("b", "b")
        lines = screen_text(stage.app).split("\n")
        assert [line.strip() for line in lines if line.strip()] == [
            "batchscope needs 80×24, now 60×10"
        ]


@pytest.mark.slow
def test_a_terminal_that_was_resized_is_left_empty():
    with closing(Terminal("--device", "sim:linear")) as terminal:
        terminal.wait_for(b"throughput")
        terminal.resize(90, 26)
        terminal.tell_of_resize()
        terminal.wait_for(b"tok/s")
        assert terminal.leave() == 0
        left = terminal.output.rpartition(b"\x1b[2J")[2]
    assert b"\x1b[?1049l" in left
    assert CONTROLS.fullmatch(left.strip())
