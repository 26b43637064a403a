"""Histograms in one line, and the timeline of a whole run."""

from __future__ import annotations

import pytest

from engine.events import Work
from tuiapp.export.sketch import Raster
from tuiapp.widgets.histogram import count_bins, is_logarithmic, latency_histogram
from tuiapp.widgets.whole_run import draw_whole_run


def test_values_that_spread_far_lie_on_a_logarithmic_axis():
    assert is_logarithmic((1.0, 100.0))
    assert not is_logarithmic((1.0, 3.0))
    assert latency_histogram((1.0, 10.0, 100.0, 1000.0), 4) == "████"
    assert latency_histogram((1.0, 1.1, 1.2, 1000.0), 4) == "█  ▃"


def test_values_that_are_close_lie_on_a_linear_axis():
    assert latency_histogram((1.0, 1.0, 1.5, 2.0), 4) == "█ ▄▄"


def test_equal_values_and_none_at_all_have_a_width_too():
    assert latency_histogram((2.0, 2.0), 4) == "█   "
    assert latency_histogram((), 4) == "    "
    assert latency_histogram((0.0, 0.0, 1.0), 4) == "█  ▄"


@pytest.mark.parametrize("logarithmic", [True, False])
def test_values_that_differ_by_rounding_alone_lie_in_one_bin(logarithmic):
    values = (0.3, 0.1 + 0.2, 0.3 - 1e-16)
    assert len(set(values)) > 1
    assert count_bins(values, 40, logarithmic=logarithmic) == [3.0, *[0.0] * 39]


def test_values_that_differ_by_a_millionth_are_told_apart():
    assert count_bins((1.0, 1.0 + 1e-6), 4) == [1.0, 0.0, 0.0, 1.0]


def test_a_cell_of_the_whole_run_shows_what_a_slot_did_most():
    raster = Raster()
    raster.add(0, Work.PREFILL, 0.0, 0.1)
    raster.add(0, Work.DECODE, 0.1, 0.4)
    raster.add(1, Work.HELD, 0.2, 0.4)
    drawn = draw_whole_run(raster, 0.4, 8, 16, ascii_only=False).plain
    assert drawn.splitlines() == ["  0 ▒───", "  1   ░░", "    00.4 s"]


def test_slots_that_do_not_fit_are_counted():
    raster = Raster()
    for slot in range(5):
        raster.add(slot, Work.DECODE, 0.0, 0.4)
    drawn = draw_whole_run(raster, 0.4, 24, 2, ascii_only=True).plain
    assert drawn.splitlines()[:3] == ["  0 " + "=" * 20, "  1 " + "=" * 20, "    and 3 more slots"]
