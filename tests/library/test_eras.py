"""What ran when, where the settings were changed in the middle of a run."""

from __future__ import annotations

from dataclasses import replace

from engine.events import Arrived, Configured
from engine.settings import BatcherName, EngineSettings
from tests.builders import ask
from tests.library.builders import findings_of, play
from tuiapp.library.eras import eras_of, tell_eras
from tuiapp.library.opening import open_live

STATIC = EngineSettings(batcher=BatcherName.STATIC)
CONTINUOUS = EngineSettings()


def course(*changes):
    """What is told of settings that change at moments after the first request, at 100 s."""
    events = [Configured(99.0, STATIC), Arrived(100.0, ask("a", arrival=100.0))]
    events += [Configured(100.0 + moment, settings) for moment, settings in changes]
    return tell_eras(eras_of(events))


def test_a_run_that_nobody_touched_has_no_course():
    assert course() == ""
    assert course((3.0, STATIC)) == ""
    assert findings_of("static")[0].outcome.name == "static"


def test_a_batcher_that_was_switched_is_told_with_its_moment():
    assert course((12.3, CONTINUOUS)) == "static, continuous from 12 s"
    assert course((0.25, CONTINUOUS)) == "static, continuous from 250 ms"


def test_knobs_are_named_where_they_are_few():
    few = replace(STATIC, max_batch_size=4)
    many = replace(few, block_size=32, watermark=0.1, aging=1.0)
    assert course((2.0, few), (5.0, many)) == (
        "static, max_batch_size 4 from 2.00 s, 3 other knobs from 5.00 s"
    )


def test_a_title_has_room_for_three_changes():
    settings = (CONTINUOUS, STATIC) * 3
    told = course(*((float(at), each) for at, each in enumerate(settings, 1)))
    assert told.endswith("continuous from 3.00 s, 3 more changes")


def test_settings_of_before_the_first_request_are_no_part_of_the_run():
    events = [Configured(1.0, STATIC), Configured(2.0, CONTINUOUS), Arrived(3.0, ask(arrival=3.0))]
    (era,) = eras_of(events)
    assert (era.began, era.settings) == (0.0, CONTINUOUS)


def test_a_run_that_was_switched_is_called_by_all_that_ran():
    session, backend = play("static", num_passes=100)
    session.set_batcher(BatcherName.CONTINUOUS)
    backend.run(100_000)
    findings = open_live(session, backend.core.info, None).findings
    assert findings.outcome.name.startswith("static, continuous from 1.")
    assert "the settings were changed while it ran" in findings.doubts
