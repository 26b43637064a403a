import time
from dataclasses import dataclass

import pytest

from engine.backends.local import LocalBackend
from engine.clock import VirtualClock
from engine.cost import Linear
from engine.events import Finished
from engine.pace import measure_pace
from engine.plan import Plan
from engine.runners.sim import SimRunner
from engine.tokenizer import ToyTokenizer
from engine.workload import Listed
from tests.builders import ask, events_of, make_core


@dataclass(frozen=True)
class Slower:
    """The reference device, so many times slower."""

    factor: float

    def seconds(self, plan: Plan) -> float:
        return self.factor * Linear().seconds(plan)


@pytest.mark.parametrize("factor", [0.25, 1.0, 3.0])
def test_the_pace_is_how_much_slower_a_decoding_pass_is_than_on_the_reference_device(factor):
    clock = VirtualClock()
    core = make_core(
        clock=clock, runner=SimRunner(clock, Slower(factor), ToyTokenizer().vocab_size)
    )
    assert measure_pace(core) == pytest.approx(factor)


def test_a_measurement_leaves_neither_events_nor_blocks_behind():
    core = make_core()
    before = len(core.log)
    measure_pace(core)
    assert (len(core.log), core.queues.pool.num_used, core.has_work) == (before, 0, False)
    assert not core.queues.pool.has_changes


def test_what_others_gave_back_before_a_measurement_is_still_told():
    core = make_core(ask("a"))
    core.step()
    core.preempt_all()
    measure_pace(core)
    told = core.queues.pool.take_changes()
    assert {change.request_id for change in told} == {"a"}


def test_nothing_is_measured_while_others_run():
    core = make_core(ask("a"))
    core.step()
    with pytest.raises(AssertionError, match="other passes would be measured"):
        measure_pace(core)


def test_a_live_engine_plays_a_workload_in_its_own_steps():
    """The second request is two minutes away on the reference device, and this one is fast."""
    backend = LocalBackend(lambda clock, log: make_core(clock=clock, log=log, cost=0.0))
    backend.start()
    try:
        backend.play(Listed([ask("a"), ask("b", arrival=120.0)]), in_steps=True)
        deadline = time.monotonic() + 20.0
        while len(events_of(backend.log, Finished)) < 2:
            assert time.monotonic() < deadline, backend.log.since(0)[0]
            time.sleep(0.001)
    finally:
        backend.stop()
