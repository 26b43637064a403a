"""The panel of a pass's time, under its key."""

from __future__ import annotations

from dataclasses import replace

from textual.widgets import Static

from tests.builders import make_info
from tests.passes import step
from tests.tui.stage import mixed_traffic, staged
from tuiapp.screens.live import LiveScreen
from tuiapp.screens.profile import ProfileScreen


def shown(stage, part):
    return " ".join(str(stage.app.screen.query_one(part, Static).render()).split())


async def test_p_opens_it_and_every_phase_has_its_line():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(100)
        await stage.press("p")
        assert isinstance(stage.app.screen, ProfileScreen)
        assert "WWWWWWWW" in shown(stage, "#bars"), "a simulated host just waits"
        phases = shown(stage, "#phases")
        assert "W wait 100.0%" in phases
        assert "the batcher decides who runs" in phases
        assert "of the last 99 passes" in phases
        assert "simulated" in phases
        await stage.press("p")
        assert isinstance(stage.app.screen, LiveScreen)


async def test_it_says_so_before_two_passes_ran():
    async with staged() as stage:
        await stage.press("p")
        assert shown(stage, "#bars") == "no two passes in a row yet"


async def test_it_follows_the_engine_while_it_is_open():
    async with staged() as stage:
        await stage.press("p")
        for index in range(30):
            stage.backend.log.append(step(index * 0.05))
        stage.app.screen.draw()
        bars, phases = shown(stage, "#bars"), shown(stage, "#phases")
        assert {"B", "P", "W", "T", "A", "G", "o"} <= set(bars)
        assert "50.00 ms" in bars
        assert "W wait 10.0%" in phases
        assert "of the last 29 passes" in phases


async def test_it_names_the_way_to_attend_and_why_not_a_better_one():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(5)
        way = "grouped gather + sdpa (not triton: triton is not installed [pip])"
        info = replace(make_info(), is_simulated=False, attention=way, num_threads=2)

        await stage.app.push_screen(ProfileScreen(stage.app.rewind, info))

        assert f"attention by {way}, 2 threads" in shown(stage, "#phases")


async def test_over_a_pass_that_was_gone_back_to_it_shows_that_pass_and_says_so():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(100)
        stage.app.rewind.go(40)
        await stage.press("p")
        assert "◀ pass 40" in str(stage.app.screen.query_one("#dialog").border_title)
        assert "of the last 39 passes" in shown(stage, "#phases")
        stage.backend.run(50)
        stage.app.screen.draw()
        assert "of the last 39 passes" in shown(stage, "#phases")
