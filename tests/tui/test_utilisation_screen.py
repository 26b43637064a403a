"""The panel of use, under its keys."""

from __future__ import annotations

from dataclasses import replace

from textual.widgets import Static

from engine.events import CpuGauges, Gauges
from tests.tui.goldens import screen_text
from tests.tui.stage import mixed_traffic, staged
from tuiapp.screens.live import LiveScreen
from tuiapp.screens.live_keys import USUAL_KEYS
from tuiapp.screens.utilisation import UtilisationScreen


async def test_u_opens_it_and_every_measure_says_what_it_is_and_when_it_lies():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(150)
        cpu = CpuGauges(cores_used=1.0, resident=1 << 30, per_core=(0.75, 0.25), load=1.5)
        stage.backend.log.append(Gauges(stage.backend.now(), "CPU", 0.5, 1 << 30, 8 << 30, cpu=cpu))
        await stage.run(50)
        await stage.press("u")
        assert isinstance(stage.app.screen, UtilisationScreen)
        shown = str(stage.app.screen.query_one("#text", Static).render())
        assert shown.count("  is   ") == shown.count("  lies ") == 12
        assert "CPU busy" in shown
        assert "50.0%" in shown
        assert "1.0 / 8 GiB" in shown
        assert shown.count("n/a: no peaks known of sim, simulated") == 2
        assert "the share of 2 cores in use, by anybody: 1.0 cores are this process" in shown
        assert "n/a: CPU counts no joules" in shown
        await stage.press("u")
        assert isinstance(stage.app.screen, LiveScreen)


async def test_a_device_without_a_name_is_called_simulated_once():
    async with staged() as stage:
        info = replace(stage.backend.core.info, device="simulated")
        stage.app.push_screen(
            UtilisationScreen(stage.app.rewind, stage.app.session, info, USUAL_KEYS)
        )
        await stage.settle()
        shown = screen_text(stage.app)
        assert "use of a simulated device" in shown
        assert "no peaks known of a simulated device" in shown


async def test_it_follows_the_engine_while_it_is_open():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(10)
        await stage.press("u")
        before = str(stage.app.screen.query_one("#text", Static).render())
        stage.backend.run(150)
        stage.app.screen.draw()
        assert str(stage.app.screen.query_one("#text", Static).render()) != before


async def test_over_a_pass_that_was_gone_back_to_it_shows_that_pass_and_says_so():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(60)
        await stage.press("u")
        then = str(stage.app.screen.query_one("#text", Static).render())
        await stage.press("u")
        await stage.run(150)
        stage.app.rewind.go(60)
        await stage.press("u")
        assert str(stage.app.screen.query_one("#text", Static).render()) == then
        assert "use of sim, simulated  ◀ pass 60" in screen_text(stage.app)
        stage.backend.run(50)
        stage.app.screen.draw()
        assert str(stage.app.screen.query_one("#text", Static).render()) == then
        await stage.press("u", "f", "u")
        assert "◀" not in screen_text(stage.app)
        assert str(stage.app.screen.query_one("#text", Static).render()) != then
