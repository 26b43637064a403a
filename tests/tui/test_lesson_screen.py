"""A lesson under its keys."""

from __future__ import annotations

from dataclasses import replace

from textual.widgets import Static

from engine.settings import BatcherName
from tests.library.builders import straggler
from tests.tui.goldens import screen_text
from tests.tui.stage import mixed_traffic, staged
from tuiapp.lessons import LessonRun, find_lesson_preset, read_course
from tuiapp.library.library import Library
from tuiapp.screens.lesson import LessonScreen
from tuiapp.screens.lessons import LessonsScreen
from tuiapp.screens.live import LiveScreen
from tuiapp.screens.report import ReportScreen

LESSON = read_course().lessons[0]


def text_of(stage):
    return str(stage.app.screen.query_one("#text", Static).render())


async def play(stage):
    """Run what was begun, to its end."""
    for _ in range(300):
        stage.backend.run(10)
        stage.app.screen.poll()
        if "You said" in text_of(stage):
            break
    await stage.settle()


async def test_a_question_waits_for_the_prediction():
    async with staged(traffic=mixed_traffic, num_kv_blocks=1024) as stage:
        await stage.press("l")
        assert isinstance(stage.app.screen, LessonsScreen)
        await stage.press("enter")
        assert isinstance(stage.app.screen, LessonScreen)
        await stage.run(30)
        stage.app.screen.poll()
        assert "What share of its slots' time" in text_of(stage)
        assert stage.backend.core.settings.batcher is BatcherName.CONTINUOUS
        assert stage.backend.core.has_work, "nothing is taken over before the prediction"


async def test_a_digit_begins_the_lesson_of_that_number():
    async with staged(traffic=mixed_traffic, num_kv_blocks=1024) as stage:
        await stage.press("l")
        assert "1-8 or ⏎ begin   ↑↓ choose   esc close" in screen_text(stage.app)
        await stage.press("9")
        assert isinstance(stage.app.screen, LessonsScreen)
        await stage.press("3")
        assert isinstance(stage.app.screen, LessonScreen)
        assert read_course().lessons[2].title in screen_text(stage.app)


async def test_the_prediction_starts_the_runs_and_is_made_once():
    async with staged(traffic=mixed_traffic, num_kv_blocks=1024) as stage:
        await stage.press("l", "enter", "2", "3")
        assert stage.backend.core.settings.batcher is BatcherName.STATIC
        stage.backend.run(20)
        stage.app.screen.poll()
        assert " 2  about half  ◂ you said" in text_of(stage)
        assert "0 of 16 requests" in text_of(stage)
        assert "continuous  to come" in text_of(stage)


async def test_the_reveal_shows_what_was_measured_and_whether_the_prediction_held():
    for key, verdict in (("3", "Right."), ("1", "Not this time.")):
        async with staged(num_kv_blocks=1024) as stage:
            await stage.press("l", "enter", key)
            await play(stage)
            shown = text_of(stage)
            assert "measured: 86%, so more than two thirds." in shown
            assert verdict in shown
            assert "Orca (OSDI), section 3" in shown
            assert stage.backend.core.settings.batcher is BatcherName.CONTINUOUS


def like(lesson, first):
    """The same lesson, with the first prediction right or wrong whatever is measured."""
    choice = replace(lesson.choices[0], up_to=first, unlike="Not this time: the run was held up.")
    return replace(
        lesson, choices=(choice, replace(lesson.choices[1], up_to=0.95), lesson.choices[2])
    )


async def test_a_run_that_did_not_show_it_is_not_passed_off_as_one_that_did():
    told = "Not this time: the run was held up."
    for first, is_told in ((0.5, False), (0.9, True)):
        async with staged(num_kv_blocks=1024) as stage:
            lesson, info = like(LESSON, first), stage.backend.core.info
            run = LessonRun(stage.app.session, info, lesson, find_lesson_preset(lesson))
            stage.app.push_screen(LessonScreen(lesson, run))
            await stage.press("1")
            await play(stage)
            assert (told in text_of(stage)) is is_told


async def test_leaving_gives_the_engine_back_as_it_was():
    async with staged(batcher=BatcherName.DYNAMIC, num_kv_blocks=1024) as stage:
        await stage.press("l", "enter", "1")
        stage.backend.run(30)
        await stage.press("escape")
        assert isinstance(stage.app.screen, LiveScreen)
        assert stage.backend.core.settings.batcher is BatcherName.DYNAMIC
        assert not stage.backend.core.has_work
        await stage.press("b")
        assert stage.backend.core.has_work


async def test_leaving_goes_back_to_a_preset_that_is_over_and_keeps_no_second_run(tmp_path):
    library = Library(tmp_path)
    async with staged(library=library, num_kv_blocks=4096) as stage:
        stage.app.session.play_preset(straggler())
        await stage.run(100_000)
        await stage.settle()
        assert isinstance(stage.app.screen, ReportScreen)
        await stage.press("escape", "l", "enter", "2")
        await play(stage)
        await stage.press("escape")
        await stage.run(100)
        assert isinstance(stage.app.screen, LiveScreen)
        assert "straggler" in screen_text(stage.app)
        assert not stage.backend.core.has_work
        assert len(library.entries()) == 1
        await stage.press("r")
        assert "16 of 16 requests were answered in full" in screen_text(stage.app)


async def test_a_preset_that_ends_behind_the_question_of_a_lesson_is_kept(tmp_path):
    library = Library(tmp_path)
    async with staged(library=library, num_kv_blocks=4096) as stage:
        stage.app.session.play_preset(straggler())
        await stage.run(20)
        await stage.press("l", "enter")
        await stage.run(100_000)
        await stage.until(lambda: len(library.entries()) == 1)


async def test_leaving_before_the_prediction_touches_nothing():
    async with staged(traffic=mixed_traffic, num_kv_blocks=1024) as stage:
        await stage.run(20)
        await stage.press("l", "enter", "escape")
        assert isinstance(stage.app.screen, LiveScreen)
        assert stage.backend.core.has_work


async def test_a_lesson_that_cannot_be_measured_here_says_why():
    async with staged(num_kv_blocks=1024) as stage:
        await stage.press("l", "down", "down", "down", "enter", "1")
        stage.backend.run(400)
        stage.app.screen.poll()
        assert "No answer here: 4 of 11 requests were refused or failed" in text_of(stage)
