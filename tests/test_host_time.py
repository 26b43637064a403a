"""Where the time between two passes went, from a log written by hand."""

from __future__ import annotations

import pytest

from engine.events import Split, Work
from engine.metrics.host_time import PHASES, HostTime
from tests.passes import SPLIT, step


def report(*steps, window=None):
    time = HostTime(window)
    time.feed(steps)
    return time.report()


def seconds(report):
    return {phase.name: phase.spread.p50 for phase in report.phases}


def test_every_phase_is_a_part_of_the_cycle_from_begin_to_begin():
    found = report(step(1.0), step(1.050))
    assert found.cycle.p50 == pytest.approx(0.050)
    assert seconds(found) == {
        "schedule": 0.001,
        "prepare": 0.002,
        "launch": 0.003,
        "sample": 0.004,
        "wait": 0.005,
        "detokenise": 0.006,
        "apply": 0.007,
        "log": 0.008,
        "other": pytest.approx(0.050 - 0.036),
    }
    assert sum(phase.share for phase in found.phases) == pytest.approx(1.0)
    assert tuple(phase.name for phase in found.phases) == PHASES


def test_the_log_is_that_of_the_pass_itself_which_the_next_one_tells():
    quick = Split(log=0.001)
    found = report(step(1.0, split=SPLIT), step(1.05, split=quick))
    assert seconds(found)["log"] == 0.001


def test_waiting_for_requests_is_no_phase():
    assert report(step(1.0, finished=True), step(9.0)) is None
    assert report(step(1.0, work=Work.HELD), step(9.0)) is None
    assert report(step(1.0, finished=True), step(9.0), step(9.05)).cycle.n == 1


def test_a_cycle_that_something_else_held_up_is_left_out():
    time = HostTime()
    time.feed([step(1.0)])
    time.skip()
    time.feed([step(5.0), step(5.05)])
    assert [round(sum(cycle), 3) for cycle in time.cycles] == [0.05]


def test_only_the_window_is_kept():
    steps = [step(index * 0.05) for index in range(100)]
    assert report(*steps, window=8).cycle.n == 8
    assert report(*steps).cycle.n == 99


def test_before_a_whole_cycle_there_is_nothing_to_say():
    assert report() is None
    assert report(step(1.0)) is None


def test_time_that_does_not_pass_has_no_shares():
    found = report(step(1.0, 0.0, Split()), step(1.0, 0.0, Split()))
    assert {phase.share for phase in found.phases} == {0.0}
