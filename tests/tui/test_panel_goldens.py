"""The panels over the live screen, at both sizes, as they were when somebody last looked."""

from __future__ import annotations

import pytest

from engine.events import Gauges, RowRecord, Split, Step, Work
from engine.settings import BatcherName
from tests.tui.goldens import check_screen
from tests.tui.stage import SIZES, mixed_traffic, staged

pytestmark = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")


def name(state, size):
    return f"{state}-{size[0]}x{size[1]}"


async def test_knobs(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(120)
        await stage.press("k", "down")
        check_screen(stage.app, name("knobs", size))


async def test_knobs_of_a_named_system(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(120)
        await stage.press("k", "m", "m", "m")
        check_screen(stage.app, name("knobs-system", size))


async def test_a_knob_that_cannot_be_set_so(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(120)
        await stage.press("k", "enter", "backspace", *"600", "enter")
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


async def test_attack(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(120)
        await stage.press("a", "down")
        check_screen(stage.app, name("attack", size))


async def test_attack_under_a_squeeze(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(60)
        await stage.press("a", "4")
        stage.app.clear_notifications()
        await stage.run(60)
        await stage.press("a")
        check_screen(stage.app, name("attack-squeezed", size))


async def test_utilisation(size):
    async with staged(size, mixed_traffic, batcher=BatcherName.STATIC) as stage:
        for second in range(6):
            gauges = Gauges(stage.backend.now(), "CPU", 0.3 + 0.1 * second, 1 << 30, 8 << 30)
            stage.backend.log.append(gauges)
            await stage.run(60)
        await stage.press("u")
        check_screen(stage.app, name("utilisation", size))


async def test_profile(size):
    async with staged(size, mixed_traffic) as stage:
        for index in range(60):
            split = Split(
                0.001, 0.012 + index % 5 * 0.002, 0.004, 0.002, 0.003, 0.005, 0.004, 0.001
            )
            row = RowRecord(0, "r0", Work.DECODE, 1, 9, 10, sampled=True)
            end = 0.05 * index + 0.045
            stage.backend.log.append(
                Step(0, end, 0.045, (row,), 1, 1, False, (), (), (), 0, 1, 9, split)
            )
        await stage.press("p")
        check_screen(stage.app, name("profile", size))


async def test_lessons(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(120)
        await stage.press("l", "down")
        check_screen(stage.app, name("lessons", size))


async def test_a_question(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(120)
        await stage.press("l", "down", "down", "enter")
        check_screen(stage.app, name("lesson-question", size))


async def test_a_lesson_that_runs(size):
    async with staged(size, num_kv_blocks=1024) as stage:
        await stage.press("l", "enter", "2")
        stage.backend.run(560)
        stage.app.screen.poll()
        stage.backend.run(60)
        stage.app.screen.poll()
        await stage.settle()
        check_screen(stage.app, name("lesson-runs", size))


async def test_what_a_lesson_showed(size):
    async with staged(size, num_kv_blocks=1024) as stage:
        await stage.press("l", "enter", "2")
        for _ in range(110):
            stage.backend.run(10)
            stage.app.screen.poll()
        await stage.settle()
        check_screen(stage.app, name("lesson-reveal", size))
