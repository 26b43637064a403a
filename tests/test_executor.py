"""Passes from their launch to their record: one is under way at most, and some fail."""

from __future__ import annotations

from engine.events import Failed, Step
from engine.request import FinishReason
from engine.settings import BatcherName
from tests.builders import (
    ask,
    deliveries_of,
    events_of,
    make_core,
    messages_of,
    reasons_of,
    run_out,
)

STATIC = {"batcher": BatcherName.STATIC, "max_batch_size": 2}


def test_a_pass_is_under_way_until_it_is_taken_to_be_landed():
    core = make_core(ask("a"))
    plan = core.batcher.schedule(core.queues, 0.0)
    assert core.executor.launch(core.runner, plan, 0.0) is None
    flight = core.executor.take_flight()
    assert flight.plan is plan
    assert core.executor.take_flight() is None
    core.executor.land(flight, is_streaming=True, by_batch=False)
    assert [step.num_tokens for step in events_of(core.log, Step)] == [4]


def test_a_launch_that_fails_says_why_and_leaves_nothing_under_way():
    core = make_core(ask("a"))
    core.runner.fails_next = True
    plan = core.batcher.schedule(core.queues, 0.0)
    assert core.executor.launch(core.runner, plan, 0.0) == "out of memory"
    assert core.executor.flight is None


def test_a_pass_whose_tokens_never_come_fails_its_sequences_and_the_others_go_on():
    core = make_core(ask("a"), ask("b"), max_num_seqs=1)
    core.runner.loses_next = True
    core.step()
    assert messages_of(core) == {"a": "the device is gone"}
    assert core.queues.pool.num_used == 0
    run_out(core)
    assert reasons_of(core) == {"a": FinishReason.ERROR, "b": FinishReason.LENGTH}


def test_a_failed_pass_fails_its_sequences_and_the_others_go_on():
    core = make_core(ask("a"), ask("b"), ask("c"), max_num_seqs=2)
    core.step()
    core.runner.fails_next = True
    core.step()
    assert messages_of(core) == {"a": "out of memory", "b": "out of memory"}
    assert events_of(core.log, Failed) == [Failed(1.0, "out of memory")]
    assert core.queues.pool.num_used == 0
    run_out(core)
    assert reasons_of(core) == {
        "a": FinishReason.ERROR,
        "b": FinishReason.ERROR,
        "c": FinishReason.LENGTH,
    }


def test_answers_that_were_done_before_their_batch_failed_are_delivered():
    core = make_core(ask("a", max_tokens=1), ask("b"), **STATIC)
    core.step()
    core.runner.fails_next = True
    core.step()
    assert deliveries_of(core) == [(1.0, "a", 1)]
    assert reasons_of(core) == {"a": FinishReason.LENGTH, "b": FinishReason.ERROR}
