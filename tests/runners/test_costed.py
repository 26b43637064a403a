"""Tokens of one runner at the pace of a cost model."""

from __future__ import annotations

import pytest

from engine.clock import VirtualClock
from engine.plan import Done, Launch, Plan, Row, RunnerError
from engine.runners.costed import CostedRunner
from tests.builders import pretend_ran
from tests.runners.builders import begin


class PerToken:
    def seconds(self, plan: Plan) -> float:
        return float(plan.num_tokens)


class Sevens:
    """A runner that answers 7 for every row, or fails."""

    def __init__(self) -> None:
        self.size = (0, 0)
        self.fails = False

    def launch(self, plan: Plan) -> Launch:
        if self.fails:
            raise RunnerError("out of memory")
        return Done([7 for row in plan.rows if row.samples])

    def resize(self, num_blocks: int, block_size: int) -> None:
        self.size = (num_blocks, block_size)


def test_tokens_are_the_runners_and_time_is_the_models():
    clock = VirtualClock()
    runner = CostedRunner(Sevens(), clock, PerToken())
    plan = Plan((Row(begin((1, 2, 3)), 3),))

    assert runner.launch(plan).result() == [7]

    pretend_ran(plan)
    assert clock.now() == 3.0


def test_a_failed_pass_takes_no_time():
    sevens, clock = Sevens(), VirtualClock()
    sevens.fails = True

    with pytest.raises(RunnerError):
        CostedRunner(sevens, clock, PerToken()).launch(Plan((Row(begin((1, 2)), 2),)))

    assert clock.now() == 0.0


def test_a_resize_reaches_the_runner():
    sevens = Sevens()

    CostedRunner(sevens, VirtualClock(), PerToken()).resize(5, 16)

    assert sevens.size == (5, 16)
