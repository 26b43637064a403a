"""What the screen costs is a difference of two runs, and says so where noise is larger."""

from __future__ import annotations

import pytest

from tuiapp.bench.screen_cost import ChildRate, ScreenCost, _left

QUIET = ScreenCost(1000.0, 990.0, 0.99, cpu_ratio=0.97, cpu_least=0.96, cpu_most=0.98)


def test_frames_are_what_a_token_costs_more_by_the_tokens_of_a_second():
    off, on = ChildRate(1000.0, per_cpu_second=1000.0), ChildRate(500.0, per_cpu_second=800.0)
    assert _left(off, on) == pytest.approx(1 - 0.00025 * 500)


def test_pairs_that_agree_give_a_number_and_between_what_it_lies():
    assert QUIET.tell_left() == "97.0% of a core is left (96.0% to 98.0% by pair)"


def test_more_than_a_core_is_never_claimed_to_be_left():
    noisy = ScreenCost(1000.0, 990.0, 0.99, cpu_ratio=1.106, cpu_least=0.93, cpu_most=1.21)
    assert noisy.tell_left() == (
        "what frames take cannot be told from noise (left of a core: 93.0% to 121.0% by pair)"
    )
