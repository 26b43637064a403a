"""The report of every preset that is shipped, drawn under simulation."""

from __future__ import annotations

import pytest

from engine.runners.parts import ModelSpec
from tests.tui.goldens import screen_text
from tests.tui.stage import staged
from tuiapp.library.opening import open_live
from tuiapp.overrides import NONE
from tuiapp.presets import find_preset, list_presets
from tuiapp.screens.report import ReportScreen
from tuiapp.shot.frame import Form, Moment
from tuiapp.shot.shoot import Shot, run_to, shoot
from tuiapp.shot.sources import stage_preset
from tuiapp.shot.views import find_view

SIMULATED = ModelSpec(device="sim:linear")
SHIPPED = list_presets().presets
EQUAL_BUT_FOR_ROUNDING = [("amortise", "slots8"), ("even-outputs", "static")]


def two_seconds_of(preset):
    session = stage_preset(preset, SIMULATED, NONE)
    run_to(session.backend, Moment(time=2.0))
    return open_live(session, session.backend.core.info, library=None)


@pytest.mark.slow
async def test_every_preset_has_a_report_two_seconds_in():
    async with staged((120, 36)) as stage:
        for preset in SHIPPED:
            opened = two_seconds_of(preset)
            stage.app.push_screen(ReportScreen(lambda opened=opened: opened))
            await stage.app.workers.wait_for_complete()
            await stage.pilot.pause()
            text = screen_text(stage.app)
            assert preset.name in text.splitlines()[0]
            assert " TTFT " in text
            stage.app.pop_screen()
    assert len(SHIPPED) >= 30


@pytest.mark.parametrize(("name", "variant"), EQUAL_BUT_FOR_ROUNDING)
async def test_latencies_that_are_equal_but_for_rounding_are_drawn(name, variant):
    session = stage_preset(find_preset(name), SIMULATED, NONE, variant)
    shot = Shot(Moment(100_000), find_view("report"), form=Form.TEXT)
    text = (await shoot(shot, session)).text
    assert "requests were answered in full" in text
    assert " linear\n" in text
