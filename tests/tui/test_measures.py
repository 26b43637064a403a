"""Differences between lanes, and from where on they are more than noise."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.events import EngineInfo, RowRecord, Step, Work
from engine.metrics import Slo
from engine.settings import EngineSettings
from tuiapp.lanes.lane import Lane, Standing, Status
from tuiapp.lanes.measures import clear_leads, leads, level, spread, tell_noise

INFO = EngineInfo(
    model="toy",
    device="cpu",
    dtype="float32",
    attention="gather",
    num_params=1,
    max_model_len=64,
    num_kv_blocks=4,
    block_size=16,
)


class Told:
    """A report with given numbers alone."""

    def __init__(self, **numbers: float) -> None:
        self._numbers = numbers

    def value(self, metric, label=""):
        return self._numbers.get(metric)


class MeasuredLane(Lane):
    """A lane with given reports, the newest last."""

    def __init__(self, name, *rates, is_simulated=False):
        earlier = tuple(Told(out_tps=rate) for rate in rates[:-1])
        super().__init__(name, EngineSettings(), 4, Slo(), earlier)
        self._newest = Told(out_tps=rates[-1])
        info = replace(INFO, is_simulated=is_simulated)
        self.standing = Standing(Status.OVER, info=info)

    def report(self):
        return self._newest


def is_clear(one, other):
    return [lead.is_clear for lead in leads(one, other)]


def test_one_percent_is_no_win_and_neither_are_nine_of_a_single_run():
    slow = MeasuredLane("slow", 100.0)
    assert is_clear(MeasuredLane("fast", 101.0), slow) == [False]
    assert is_clear(MeasuredLane("fast", 109.0), slow) == [False]
    assert is_clear(MeasuredLane("fast", 111.0), slow) == [True]


def test_a_simulation_repeats_itself_so_that_six_percent_count():
    slow = MeasuredLane("slow", 100.0, is_simulated=True)
    fast = MeasuredLane("fast", 106.0, is_simulated=True)
    assert is_clear(fast, slow) == [True]
    assert tell_noise([fast, slow]) == ""


def test_repeats_count_by_their_middle_and_only_where_no_two_of_them_overlap():
    slow = MeasuredLane("slow", 100.0, 96.0, 104.0)
    assert [lead.ratio for lead in leads(MeasuredLane("fast", 120.0, 107.0, 109.0), slow)] == [1.09]
    assert is_clear(MeasuredLane("fast", 120.0, 107.0, 109.0), slow) == [True]
    assert is_clear(MeasuredLane("fast", 120.0, 103.0, 109.0), slow) == [False]
    assert clear_leads(slow, MeasuredLane("fast", 120.0, 107.0, 109.0)) == []


def test_the_rule_is_told_in_a_line():
    once = [MeasuredLane("a", 100.0), MeasuredLane("b", 130.0)]
    assert tell_noise(once, "r repeats them") == (
        " One run each, like passes differed by 0%: below 10% counts as noise; r repeats them."
    )
    twice = [MeasuredLane("a", 100.0, 104.0), MeasuredLane("b", 130.0, 130.0)]
    assert tell_noise(twice) == " Medians of 2 runs; those of a lane differ by up to 4%."
    assert spread(once) is None
    assert (level(once), level(twice)) == (1.10, 1.05)


def timed(lane, *milliseconds, size=8):
    """The lane, with twenty passes that took so long, in turn."""
    for number in range(20):
        duration = milliseconds[number % len(milliseconds)] / 1000
        lane.passes.write([pass_of(size, duration)])
    return lane


def pass_of(size, duration):
    row = RowRecord(0, "a", Work.DECODE, 1, 4, 5)
    return Step(0, 1.0, duration, (row,), size, size, False, (), (), (), 0, 1, 3)


def test_a_lane_is_not_blamed_for_a_device_that_was_slower_meanwhile():
    fast, slow = timed(MeasuredLane("fast", 122.0), 10.0), timed(MeasuredLane("slow", 100.0), 12.0)
    assert is_clear(fast, slow) == [False]
    assert level([fast, slow]) == pytest.approx(1.26)
    assert tell_noise([fast, slow]).startswith(
        " One run each, like passes differed by 20%: below 26% counts as noise"
    )
    assert is_clear(MeasuredLane("fast", 122.0), slow) == [True]  # no like pass, no excuse


def test_passes_of_other_sizes_are_not_held_against_each_other():
    fast = timed(MeasuredLane("fast", 122.0), 10.0, size=8)
    slow = timed(MeasuredLane("slow", 100.0), 30.0, size=64)
    assert is_clear(fast, slow) == [True]


def test_a_worst_gap_that_one_hitch_explains_is_noise():
    one, other = gap_of("one", 80.0), gap_of("other", 400.0)
    assert is_clear(one, other) == [True]
    timed(other, *[10.0] * 19, 350.0)
    assert other.passes.longest_hitch() == pytest.approx(0.34)
    assert is_clear(one, other) == [False]


def gap_of(name, milliseconds):
    lane = MeasuredLane(name, 1.0)
    lane._newest = Told(itl_max_ms=milliseconds)
    return lane


def test_a_latency_that_differs_by_less_than_a_pass_is_noise():
    one, other = timed(first_token("one", 29.0), 20.0), timed(first_token("other", 38.0), 20.0)
    assert is_clear(one, other) == [False]
    assert is_clear(one, timed(first_token("late", 60.0), 20.0)) == [True]


def first_token(name, milliseconds):
    lane = MeasuredLane(name, 1.0)
    lane._newest = Told(ttft_p50_ms=milliseconds)
    return lane
