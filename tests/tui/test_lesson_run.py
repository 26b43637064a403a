"""Lessons on a whole engine without a thread."""

from __future__ import annotations

import pytest

from engine.events import Arrived, Failed
from engine.generate.demo import DemoMix
from engine.settings import BatcherName
from tests.builders import events_of
from tests.library.builders import play
from tests.tui.stage import StageBackend, mixed_traffic
from tuiapp.lessons import LessonRun, find_lesson_preset, read_course
from tuiapp.session import Session

LESSONS = {lesson.id: lesson for lesson in read_course().lessons}


def begin(name, **knobs):
    """A lesson that has been started on an engine with other work to do."""
    backend = StageBackend(**{"num_kv_blocks": 1024} | knobs)
    mixed_traffic(backend)
    backend.run(20)
    session = Session(backend, backend.core.settings)
    lesson = LESSONS[name]
    run = LessonRun(session, backend.core.info, lesson, find_lesson_preset(lesson))
    run.start()
    return backend, session, lesson, run


def finish(backend, run):
    for _ in range(400):
        backend.run(10)
        progress = run.poll()
        if progress.is_over or progress.problem:
            return progress
    raise AssertionError("the lesson does not end")


def test_the_runs_follow_each_other_under_their_own_settings():
    backend, _, _, run = begin("why-static-wastes")
    assert run.poll().run == "static"
    assert backend.core.settings.batcher is BatcherName.STATIC
    backend.run(20)
    progress = run.poll()
    assert (progress.run, progress.num_done, progress.num_requests) == ("static", 0, 16)
    while run.poll().run == "static":
        backend.run(10)
    assert backend.core.settings.batcher is BatcherName.CONTINUOUS
    assert list(run.reports) == ["static"]
    assert finish(backend, run).is_over
    assert list(run.reports) == ["static", "continuous"]


def test_what_is_measured_is_the_run_and_nothing_of_before():
    backend, _, lesson, run = begin("why-static-wastes")
    finish(backend, run)
    static, continuous = run.reports["static"], run.reports["continuous"]
    assert static.service.num_requests == static.service.num_completed == 16
    assert continuous.service.num_output_tokens == 575
    # Seven of eight slots are held from the 5th of 500 passes on; the second batch holds none.
    assert lesson.measure.value(run.reports) == pytest.approx(0.86, abs=0.01)
    assert lesson.right_choice(lesson.measure.value(run.reports)) == 2
    assert continuous.passes.held_share == 0.0


def test_the_same_numbers_come_out_of_a_second_time():
    first = begin("what-the-timeout-trades")
    finish(first[0], first[3])
    second = begin("what-the-timeout-trades")
    finish(second[0], second[3])
    assert first[3].reports == second[3].reports


def test_leaving_restores_the_settings_and_ends_what_runs():
    backend, session, _, run = begin("preemption")
    before = StageBackend(num_kv_blocks=1024).core.settings
    backend.run(30)
    run.leave()
    assert session.settings == backend.core.settings == before
    assert not backend.core.has_work
    backend.run(10)
    assert not backend.core.has_work, "no request of the lesson arrives any more"
    run.leave()
    assert session.settings == before


def test_a_lesson_plays_at_its_own_speed_and_unpaused():
    backend = StageBackend()
    session = Session(backend, backend.core.settings)
    session.change_speed(2)
    session.toggle_pause()
    lesson = LESSONS["why-static-wastes"]
    LessonRun(session, backend.core.info, lesson, find_lesson_preset(lesson)).start()
    assert session.speed == 1.0
    assert not session.is_paused


def test_leaving_goes_back_to_workload_speed_and_pause():
    backend = StageBackend()
    session = Session(backend, backend.core.settings)
    session.play("gentle mix", DemoMix(session.prompts, 3.0))
    session.change_speed(2)
    session.toggle_pause()
    backend.run(20)
    lesson = LESSONS["why-static-wastes"]
    run = LessonRun(session, backend.core.info, lesson, find_lesson_preset(lesson))
    run.start()
    backend.run(5)
    run.leave()
    assert (session.workload, session.speed, session.is_paused) == ("gentle mix", 4.0, True)
    before = {each.request.id for each in events_of(backend.log, Arrived)}
    backend.run(20)
    after = [each.request.id for each in events_of(backend.log, Arrived)]
    assert len(after) == len(set(after)) > len(before), "the mix goes on, under new names"


def leave_for_a_lesson(session, backend):
    """Begin a lesson, and leave it before its end."""
    lesson = LESSONS["why-static-wastes"]
    run = LessonRun(session, backend.core.info, lesson, find_lesson_preset(lesson))
    run.start()
    backend.run(5)
    run.leave()


def test_a_preset_that_was_over_before_a_lesson_is_not_begun_again():
    session, backend = play()
    before, name = session.playing, session.workload
    assert session.is_over
    leave_for_a_lesson(session, backend)
    assert (session.playing, session.workload) == (before, name)
    num_arrived = len(events_of(backend.log, Arrived))
    backend.run(20)
    assert len(events_of(backend.log, Arrived)) == num_arrived


def test_a_preset_that_was_not_over_before_a_lesson_begins_again_and_is_not_over():
    session, backend = play(num_passes=40)
    before = session.playing
    leave_for_a_lesson(session, backend)
    assert session.playing.preset is before.preset
    assert session.playing.position > before.position
    num_arrived = len(events_of(backend.log, Arrived))
    backend.run(20)
    assert len(events_of(backend.log, Arrived)) > num_arrived
    assert not session.is_over
    backend.run(1000)
    assert session.is_over


def test_requests_that_the_engine_refuses_leave_the_question_open():
    backend, _, _, run = begin("the-prefill-spike")  # its prompts exceed the toy's context
    progress = finish(backend, run)
    assert progress.problem == "1 of 11 requests was refused or failed", "known at the first one"
    assert not run.reports


def test_a_failure_leaves_the_question_open():
    backend, _, _, run = begin("why-continuous")
    backend.run(5)
    backend.log.append(Failed(backend.now(), "out of memory"))
    assert run.poll().problem == "out of memory"
    backend.run(2000)
    assert run.poll().problem == "out of memory"
