"""The log, read as far as a moment that is shown."""

from __future__ import annotations

from engine.events import Noted
from engine.log import EventLog
from tuiapp.view.reading import read_on


def log_of(count, capacity=None):
    log = EventLog(capacity=capacity)
    for number in range(count):
        log.append(Noted(float(number), f"{number}"))
    return log


def times(log, position, until):
    events, end = read_on(log, position, until)
    return [event.time for event in events], end


def test_without_an_end_all_that_is_new_is_read():
    assert times(log_of(5), 2, None) == ([2.0, 3.0, 4.0], 5)


def test_nothing_is_read_from_the_end_on():
    log = log_of(5000)
    assert times(log, 2, 4) == ([2.0, 3.0], 4)
    assert times(log, 4, 4) == ([], 4)
    assert times(log, 0, 4) == ([0.0, 1.0, 2.0, 3.0], 4)


def test_an_end_that_is_yet_to_come_is_waited_for():
    assert times(log_of(3), 0, 9) == ([0.0, 1.0, 2.0], 3)


def test_what_was_forgotten_before_the_end_is_left_out():
    log = log_of(9000, capacity=2000)
    assert log.first > 4
    assert times(log, 0, 4) == ([], 4)
