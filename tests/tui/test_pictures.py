"""Bars, spark lines, and how the parts share a terminal."""

from __future__ import annotations

import pytest

from tuiapp.ascii import to_ascii
from tuiapp.view.layout import Layout, lay_out
from tuiapp.widgets.bars import bar, histogram, spark


@pytest.mark.parametrize(
    ("share", "drawn"),
    [
        (0.0, ("", "╌╌╌╌")),
        (0.5, ("██", "╌╌")),
        (0.40625, ("█▋", "╌╌")),
        (1.0, ("████", "")),
        (7.0, ("████", "")),
        (-1.0, ("", "╌╌╌╌")),
    ],
)
def test_a_bar_is_exact_to_an_eighth_of_a_cell(share, drawn):
    assert bar(share, 4) == drawn


def test_a_spark_line_is_relative_to_its_largest_value():
    assert spark((0, 1, 4, 8), 6) == "   ▁▄█"
    assert spark((1, 2, 3), 2) == "▆█"
    assert spark((0, 0), 3) == "   "
    assert spark((), 3) == "   "


def test_a_histogram_counts_into_equal_bins():
    assert histogram((1, 1, 1, 1, 2, 9), 4) == "█  ▂"
    assert histogram((), 3) == "   "
    assert histogram((5, 5), 3) == "█  "


@pytest.mark.parametrize(
    ("size", "num_slots", "layout"),
    [
        ((120, 36), 8, Layout(8, 8, 4, is_wide=True, has_bottom=True)),
        ((120, 36), 16, Layout(16, 4, 4, is_wide=True, has_bottom=True)),
        ((120, 36), 64, Layout(16, 4, 4, is_wide=True, has_bottom=True)),
        ((120, 36), 2, Layout(2, 4, 4, is_wide=True, has_bottom=True)),
        ((80, 24), 8, Layout(8, 3, 3, is_wide=False, has_bottom=False)),
        ((80, 24), 64, Layout(10, 3, 3, is_wide=False, has_bottom=False)),
        ((250, 70), 8, Layout(8, 8, 4, is_wide=True, has_bottom=True)),
        ((250, 70), 64, Layout(50, 4, 4, is_wide=True, has_bottom=True)),
    ],
)
def test_the_timeline_gets_its_slots_as_long_as_panes_stay_readable(size, num_slots, layout):
    assert lay_out(*size, num_slots=num_slots) == layout


def test_ascii_keeps_the_width_of_everything():
    assert to_ascii("╭─ r1 ▒▒░░ 日本 é ●─╮") == "+- r1 ##:: ???? ? o-+"
