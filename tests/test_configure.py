"""Knobs that are turned while requests run: who goes on, who makes room, who is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.core import EngineCore
from engine.events import Configured, Delivered, Step
from engine.plan import CacheLostError, RunnerError
from engine.request import FinishReason
from engine.settings import BatcherName, EngineSettings, OnFull, SchedulingPolicy, TimeoutAction
from tests.builders import (
    ask,
    events_of,
    make_core,
    make_info,
    messages_of,
    outputs_of,
    reasons_of,
    rows_of,
    run_out,
)
from tests.checked_runner import CheckedRunner, KvMemory

STATIC = {"batcher": BatcherName.STATIC, "max_batch_size": 2}
SMALL = {"num_kv_blocks": 6, "block_size": 4, "max_batch_size": 3}


def preempted(core: EngineCore) -> list[str]:
    return [each.request_id for step in events_of(core.log, Step) for each in step.preempted]


class Cramped(CheckedRunner):
    """Has no memory for any other cache."""

    def resize(self, num_blocks: int, block_size: int) -> None:
        raise RunnerError(f"no memory for {num_blocks} blocks")


class Forgetful(CheckedRunner):
    """Frees its cache before it finds that there is no memory for another one."""

    def resize(self, num_blocks: int, block_size: int) -> None:
        self.memory = KvMemory(block_size)
        raise CacheLostError(f"no memory for {num_blocks} blocks")


def test_a_live_switch_loses_and_repeats_no_token():
    core = make_core(ask("a", max_tokens=6), ask("b", 9, max_tokens=6))
    undisturbed = make_core(ask("a", max_tokens=6), ask("b", 9, max_tokens=6))
    run_out(undisturbed)
    for name in (BatcherName.STATIC, BatcherName.DYNAMIC, BatcherName.CONTINUOUS):
        core.step()
        core.configure(EngineSettings(name, max_batch_size=2))
    run_out(core)
    assert outputs_of(core.log) == outputs_of(undisturbed.log)


def test_what_runs_goes_on_where_a_knob_does_not_touch_it():
    core = make_core(ask("a"), ask("b"), ask("c"), max_num_seqs=2)
    core.step()
    core.configure(EngineSettings(max_num_seqs=3, max_num_batched_tokens=99))
    assert rows_of(core.step()) == [("a", 1), ("b", 1), ("c", 4)]
    assert not any(step.preempted for step in events_of(core.log, Step))


def test_the_newest_make_room_for_fewer_slots_and_the_others_go_on():
    core = make_core(ask("a"), ask("b"), ask("c"), max_num_seqs=3)
    core.step()
    core.configure(EngineSettings(max_num_seqs=2))
    assert rows_of(core.step()) == [("a", 1), ("b", 1)]
    assert preempted(core) == ["c"]


def test_who_holds_a_slot_too_high_makes_room_with_those_behind_it():
    core = make_core(ask("a", max_tokens=1), ask("b"), ask("c"), max_num_seqs=2)
    core.step()
    core.step()
    assert {seq.id: seq.slot for seq in core.queues.running} == {"b": 1, "c": 0}
    core.configure(EngineSettings(max_num_seqs=1))
    assert rows_of(core.step()) == [("b", 6)], "who came first is first again"
    assert preempted(core) == ["c", "b"]


def test_a_batch_goes_on_as_it_is_under_continuous_batching():
    core = make_core(ask("a"), ask("b"), ask("c"), **STATIC)
    core.step()
    core.configure(EngineSettings(max_num_seqs=3))
    assert rows_of(core.step()) == [("a", 1), ("b", 1), ("c", 4)]
    assert preempted(core) == []


def test_what_its_batch_was_to_wait_for_is_delivered_when_there_is_no_batch_any_more():
    core = make_core(ask("a", max_tokens=1), ask("b"), **STATIC)
    core.step()
    assert not events_of(core.log, Delivered)
    core.configure(EngineSettings())
    told = [(each.request_id, each.num_tokens) for each in events_of(core.log, Delivered)]
    assert told == [("a", 1)]
    assert [seq.id for seq in core.queues.running] == ["b"]


def test_what_runs_becomes_a_batch_where_there_is_room_for_whole_outputs():
    core = make_core(ask("a"), ask("b"), ask("c"), max_num_seqs=2)
    core.step()
    core.configure(EngineSettings(BatcherName.STATIC, max_batch_size=2))
    plan = core.step()
    assert (rows_of(plan), plan.rectangular) == ([("a", 1), ("b", 1)], True)
    assert preempted(core) == []


@pytest.mark.parametrize(
    "knobs", [{"batcher": BatcherName.STATIC}, {"on_full": OnFull.NO_EVICT}], ids=["batch", "no"]
)
def test_the_newest_make_room_until_the_others_have_it_for_whole_outputs(knobs):
    core = make_core(ask("a", 4, 8), ask("b", 4, 8), ask("c", 4, 8), **SMALL)
    core.step()
    core.configure(EngineSettings(**(SMALL | knobs)))
    assert preempted(core) == ["c"]
    assert rows_of(core.step()) == [("a", 1), ("b", 1)]


@pytest.mark.parametrize(
    "knobs",
    [
        {"scheduling_policy": SchedulingPolicy.PRIORITY, "aging": 2.0},
        {"on_full": OnFull.PREEMPT_LOWEST},
        {"default_queue_timeout_ms": 9.0, "timeout_action": TimeoutAction.DELAY},
        {"max_model_len": 99},
        {"reserve_tokens": 64},
    ],
    ids=["order", "full", "timeout", "context", "reserve of another policy"],
)
def test_no_knob_that_touches_neither_blocks_nor_slots_makes_anybody_move(knobs):
    core = make_core(ask("a"))
    core.step()
    pool = core.queues.pool
    core.configure(EngineSettings(**knobs))
    assert rows_of(core.step()) == [("a", 1)]
    assert core.queues.pool is pool


def test_the_same_settings_again_change_nothing():
    core = make_core(ask("a"))
    core.step()
    core.configure(replace(core.settings))
    assert rows_of(core.step()) == [("a", 1)]
    assert len(events_of(core.log, Configured)) == 1


def test_who_wants_to_start_afresh_clears_the_cache():
    core = make_core(ask("a"))
    core.step()
    core.clear_cache()
    assert rows_of(core.step()) == [("a", 5)]


def test_a_batch_is_answered_when_a_shorter_context_ends_the_last_of_it():
    core = make_core(ask("a", max_tokens=1), ask("b", max_tokens=40), **STATIC)
    core.step()
    core.configure(EngineSettings(BatcherName.STATIC, max_batch_size=2, max_model_len=20))
    assert messages_of(core)["b"] == "4 prompt + 40 output tokens exceed the context of 20"
    assert [each.request_id for each in events_of(core.log, Delivered)] == ["a"]


def test_a_batch_goes_on_while_the_next_one_may_be_larger():
    core = make_core(ask("a"), ask("b"), **STATIC)
    core.step()
    core.configure(EngineSettings(BatcherName.STATIC, max_batch_size=5))
    assert rows_of(core.step()) == [("a", 1), ("b", 1)]


def test_what_runs_is_preempted_for_another_cache_and_comes_back_in_order():
    core = make_core(ask("a"), ask("b"), ask("c"), max_num_seqs=2)
    core.step()
    core.configure(EngineSettings(max_num_seqs=3, num_kv_blocks=99))
    assert [seq.id for seq in core.queues.waiting] == ["a", "b", "c"]
    assert rows_of(core.step()) == [("a", 5), ("b", 5), ("c", 4)]


def test_the_change_is_told_after_what_it_did():
    core = make_core(ask("a"))
    core.step()
    core.configure(EngineSettings(num_kv_blocks=99))
    told = [type(event).__name__ for event in core.log.since(0)[0][-2:]]
    assert told == ["Step", "Configured"]
    step = events_of(core.log, Step)[-1]
    assert [(p.request_id, p.num_lost) for p in step.preempted] == [("a", 4)]


def test_a_smaller_cache_refuses_those_that_no_longer_fit_and_serves_the_others():
    core = make_core(ask("big", 40), ask("small", 4), ask("later", 40), max_num_seqs=2)
    core.step()
    core.configure(EngineSettings(num_kv_blocks=2))
    reason = "40 prompt + 4 output tokens need 3 KV blocks; the cache has 2"
    assert messages_of(core) == {"big": reason, "later": reason}
    run_out(core)
    assert reasons_of(core)["small"] is FinishReason.LENGTH


def test_a_shorter_context_refuses_those_that_no_longer_fit():
    core = make_core(ask("a", 40), ask("b", 4))
    core.configure(EngineSettings(max_model_len=20))
    assert messages_of(core) == {"a": "40 prompt + 4 output tokens exceed the context of 20"}
    run_out(core)
    assert len(outputs_of(core.log)["b"]) == 4


def test_a_cache_the_runner_cannot_hold_changes_nothing():
    core = make_core(ask("a"))
    core.runner = Cramped(core.clock, 99, 16)
    core.step()
    before = core.settings, core.queues.pool, core.batcher, list(core.queues.running)
    with pytest.raises(RunnerError, match="no memory for 9 blocks"):
        core.configure(EngineSettings(BatcherName.STATIC, num_kv_blocks=9))
    assert (core.settings, core.queues.pool, core.batcher, core.queues.running) == before
    run_out(core)
    assert len(outputs_of(core.log)["a"]) == 4


def test_what_runs_is_computed_again_where_the_runner_lost_its_cache_in_trying():
    core = make_core(ask("a", 40), enable_prefix_caching=True)
    core.runner = Forgetful(core.clock, 99, 16)
    core.step()
    before = core.settings
    with pytest.raises(CacheLostError, match="no memory for 9 blocks"):
        core.configure(EngineSettings(num_kv_blocks=9))
    assert (core.settings, core.queues.pool.cached) == (before, frozenset())
    run_out(core)
    assert len(outputs_of(core.log)["a"]) == 4


def test_the_runner_is_asked_only_for_another_cache():
    core = make_core()
    core.runner = Cramped(core.clock, 99, 16)
    core.configure(EngineSettings(BatcherName.STATIC, max_batch_size=3))
    assert core.settings.max_batch_size == 3


def test_other_blocks_leave_the_memory_of_the_cache_as_it_is():
    core = make_core(info=make_info(num_kv_blocks=100))
    core.configure(EngineSettings(block_size=32))
    assert (core.queues.pool.num_blocks, core.queues.pool.block_size) == (50, 32)
    core.configure(EngineSettings(block_size=4))
    assert (core.queues.pool.num_blocks, core.queues.pool.block_size) == (400, 4)
