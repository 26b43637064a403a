"""Measuring, on a simulated device whose passes are known to the last digit."""

from __future__ import annotations

import pytest

from engine.calibrate import (
    MAX_CONTEXT_TOKENS,
    CpuClock,
    Point,
    fitting_points,
    held_out_points,
    measure,
)
from engine.calibrate.passes import Pretending
from engine.cost import Load, Roofline
from engine.cost.fit import errors_of, fit_device
from engine.hardware import simulate
from engine.plan import Plan, RunnerError
from engine.runners.sim import SimRunner
from tests.builders import make_core, make_info, make_queues, queue_up, rows_of

COST = simulate("a100-80", "tiny")


def make_simulated_core(cost=COST):
    core = make_core(info=make_info(8192, MAX_CONTEXT_TOKENS // 16 + 64))
    core.runner = SimRunner(core.clock, cost, core.tokenizer.vocab_size)
    return core


@pytest.mark.parametrize(
    ("point", "load"),
    [
        (Point(num_decodes=3, context=64), Load(3, 3, 3, 3 * 64, 3 * 64)),
        (Point(chunk=4, chunk_context=10), Load(1, 4, 1, 11 + 12 + 13 + 14, 14)),
        (Point(2, 64, 4, 10), Load(3, 6, 3, 2 * 64 + 50, 2 * 64 + 14)),
        (
            Point(2, 64, 4, 0, is_padded=True),
            Load(3, 12, 3, 2 * 4 * 64 + (1 + 2 + 3 + 4), 2 * 64 + 4),
        ),
    ],
)
def test_a_point_is_timed_as_the_pass_that_it_says(point, load):
    (timed,) = measure(make_simulated_core(), [point], rounds=1)
    assert timed.load == load
    assert timed.seconds == pytest.approx(COST.seconds_of(load))


def test_the_median_of_the_rounds_counts_and_the_first_round_does_not():
    class Slowing:
        """Every pass takes longer than the one before, and the first an hour."""

        num_passes = 0

        def seconds(self, plan: Plan) -> float:
            self.num_passes += 1
            return 3600.0 if self.num_passes == 1 else float(self.num_passes)

    rounds = []
    core = make_simulated_core(Slowing())
    (timed,) = measure(core, [Point(1, 16)], rounds=3, on_round=lambda: rounds.append(1))
    assert timed.seconds == pytest.approx(3.0)
    assert len(rounds) == 4


def test_nothing_is_left_behind():
    core = make_simulated_core()
    measure(core, [Point(3, 64), Point(1, 16, 32, 64)], rounds=2)
    assert not core.has_work
    assert core.queues.pool.num_used == 0


def test_a_pass_that_fails_ends_the_measurement():
    core = make_core(info=make_info(8192, 64))
    core.runner.fails_next = True
    with pytest.raises(RunnerError, match="out of memory"):
        measure(core, [Point(1, 16)], rounds=1)
    assert not core.has_work


def test_what_is_fitted_predicts_what_was_held_out():
    core, fitted, held_out = make_simulated_core(), fitting_points(8192), held_out_points(8192)
    timed = measure(core, [*fitted, *held_out], rounds=1)
    device = fit_device(timed[: len(fitted)], COST.model, "bfloat16", "found", 80)
    errors = errors_of(Roofline(COST.model, device, "bfloat16"), timed[len(fitted) :])
    assert errors.n == len(held_out)
    assert errors.worst < 0.01


@pytest.mark.parametrize("max_model_len", [512, 2048, 8192])
def test_the_grids_fit_the_model_and_the_cache_and_share_no_point(max_model_len):
    fitted, held_out = fitting_points(max_model_len), held_out_points(max_model_len)
    assert {point.kind for point in fitted} == {point.kind for point in held_out}
    assert {"decode", "prefill", "mixed", "padded"} == {point.kind for point in fitted}
    assert not set(fitted) & set(held_out)
    for point in fitted + held_out:
        assert point.num_context_tokens <= MAX_CONTEXT_TOKENS
        assert max(point.context, point.chunk + point.chunk_context) + 2 <= max_model_len


def test_prompts_count_as_computed_but_for_their_ends():
    queues = make_queues(6, 9)
    plan = Pretending().schedule(queues, 0.0)
    assert rows_of(plan) == [("r0", 1), ("r1", 1)]
    assert [len(seq.block_table) for seq in queues.running] == [2, 3]
    queue_up(queues, 5)
    assert rows_of(Pretending().schedule(queues, 0.0)) == [("r0", 1)]


def test_the_clock_counts_work_and_not_sleep():
    clock = CpuClock()
    began = clock.now()
    clock.sleep(0.05)
    assert clock.now() - began < 0.04
    while clock.now() - began < 0.01:  # this is work
        pass
