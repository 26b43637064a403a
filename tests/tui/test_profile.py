"""The last cycles of a log, and the columns that they make."""

from __future__ import annotations

import pytest

from engine.log import EventLog
from engine.metrics.host_time import PHASES
from tests.passes import step
from tuiapp.view.host_phases import WORDS
from tuiapp.view.profile import NUM_CYCLES, Profile, stack


def test_it_reads_on_and_keeps_the_last_cycles():
    log = EventLog()
    profile = Profile(log)
    assert profile.poll() is None
    for index in range(NUM_CYCLES + 10):
        log.append(step(index * 0.05))
    report = profile.poll()
    assert report is not None
    assert report.cycle.n == NUM_CYCLES
    assert report.cycle.p50 == pytest.approx(0.05)
    assert len(profile.cycles()) == NUM_CYCLES


@pytest.mark.parametrize(
    ("cycle", "cells"),
    [
        ((1.0, 2.0, 1.0), [0, 1, 1, 2]),
        ((1.0, 0.0, 1.0), [0, 2]),
        ((0.2, 0.2, 0.2), [2]),
        ((9.0, 9.0, 9.0), [0, 0, 0, 0]),
        ((), []),
    ],
)
def test_a_column_has_a_cell_for_each_part_of_the_height(cycle, cells):
    assert stack(cycle, top=4.0, height=4) == cells


def test_no_time_makes_no_column():
    assert stack((0.0, 0.0), top=0.0, height=4) == []


def test_every_phase_has_words_and_a_letter_of_its_own():
    assert tuple(WORDS) == PHASES
    assert len({words.letter for words in WORDS.values()}) == len(PHASES)
