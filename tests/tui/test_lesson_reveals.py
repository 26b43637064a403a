"""Each lesson under its keys, to its end, on a simulated engine."""

from __future__ import annotations

import pytest
from textual.widgets import Static

from engine.assembly import ModelSpec, build_core
from engine.clock import VirtualClock
from engine.generate.demo import DemoMix
from engine.log import EventLog
from engine.settings import BatcherName, EngineSettings
from tuiapp.app import Playground
from tuiapp.lessons import read_course
from tuiapp.screens.lesson import LessonScreen
from tuiapp.screens.live import LiveScreen
from tuiapp.session import Session
from tuiapp.shot.stage import set_stage
from tuiapp.shot.stepped import SteppedBackend

LESSONS = [lesson.id for lesson in read_course().lessons]
SIMULATED = ModelSpec(device="sim:linear")
BEFORE = EngineSettings(batcher=BatcherName.DYNAMIC, max_batch_size=4)
REVEALED = {
    "why-static-wastes": ("86%, so more than two thirds.",),
    "what-the-timeout-trades": ("3.93 times, so a good deal more.",),
    "why-continuous": ("2.18 times, so about twice as many, or more.",),
    "the-prefill-spike": ("5.44 times, so more than three times.",),
    "the-size-of-a-chunk": ("40.86 times, so longer still.",),
    "paging-against-reserving": ("7.62 times, so more than four times.",),
    "preemption": ("186.08 times, so more than five times.",),
    "light-traffic": ("21.08 times, so more: dynamic is first.",),
}


def make_session():
    """An engine that others use already, faster than they were meant to."""
    clock = VirtualClock()
    core = build_core(SIMULATED, BEFORE, clock, EventLog())
    backend = SteppedBackend(core, clock)
    session = Session(backend, BEFORE, spec=SIMULATED)
    session.play("gentle mix", DemoMix(session.prompts, 3.0))
    session.change_speed(1)
    backend.run(30)
    return session, backend


def text_of(stage):
    return str(stage.app.screen.query_one("#text", Static).render())


@pytest.mark.parametrize("name", LESSONS)
async def test_a_lesson_reveals_what_was_measured_and_gives_back_what_was_before(name):
    session, backend = make_session()
    async with set_stage(Playground(session), (120, 36)) as stage:
        before = (session.settings, session.workload, session.speed)
        await stage.press("l", *["down"] * LESSONS.index(name), "enter", "1")
        assert isinstance(stage.app.screen, LessonScreen)
        for _ in range(400):
            backend.run(20)
            stage.app.screen.poll()
            if "measured:" in text_of(stage):
                break
        shown = " ".join(text_of(stage).split())
        for words in REVEALED[name]:
            assert words in shown
        await stage.press("escape")
        assert isinstance(stage.app.screen, LiveScreen)
        assert (session.settings, session.workload, session.speed) == before
        assert backend.core.settings == session.settings
        assert before[0].batcher is BatcherName.DYNAMIC
