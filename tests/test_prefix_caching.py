"""What prefix caching does to a whole engine; that tokens stay the same, others check."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.core import EngineCore
from engine.events import Finished, Keyframe, Step
from engine.metrics import Metrics
from engine.request import FinishReason, Request, SamplingParams
from engine.settings import BatcherName, PassOrder, Start
from tests.builders import events_of, make_core, outputs_of, rows_of, run_out
from tests.checked_runner import CheckedRunner

SYSTEM = (9,) * 8
STATIC = {"batcher": BatcherName.STATIC, "start": Start.IDLE, "max_batch_size": 4}


def ask(name: str, *tail: int, prefix: tuple[int, ...] = SYSTEM, max_tokens: int = 2) -> Request:
    return Request(name, (*prefix, *tail), SamplingParams(max_tokens=max_tokens))


def make_caching(*requests: Request, **knobs) -> EngineCore:
    knobs = {"enable_prefix_caching": True, "block_size": 4} | knobs
    return make_core(*requests, **knobs)


def make_late_failure(*requests: Request) -> EngineCore:
    """Its first pass fails after the next one was launched."""
    core = make_caching(*requests, async_scheduling=True)
    assert isinstance(core.runner, CheckedRunner)
    core.runner.loses_next = True
    return core


def hits(core: EngineCore) -> tuple[int, int]:
    metrics = Metrics()
    metrics.feed(core.log.since(0)[0])
    passes = metrics.report().passes
    return passes.num_hit, passes.num_looked_up


@pytest.mark.parametrize("knobs", [{}, STATIC], ids=["continuous", "static"])
def test_a_second_prompt_computes_only_what_is_its_own(knobs):
    core = make_caching(ask("a", 1, 2), **knobs)
    run_out(core)
    core.add(ask("b", 3, 4))
    assert rows_of(core.step()) == [("b", 2)]
    assert hits(core) == (8, 20)


def test_off_nothing_is_shared():
    core = make_core(ask("a", 1, 2), block_size=4)
    run_out(core)
    core.add(ask("b", 3, 4))
    assert rows_of(core.step()) == [("b", 10)]
    assert hits(core) == (0, 0)


@pytest.mark.parametrize("knobs", [{}, STATIC], ids=["continuous", "static"])
def test_prompts_that_begin_in_one_pass_share_what_one_of_them_computes_in_it(knobs):
    core = make_caching(ask("a", 1), ask("b", 2), ask("c", 3), **knobs)
    assert rows_of(core.step()) == [("a", 9), ("b", 1), ("c", 1)]
    run_out(core)
    assert hits(core) == (16, 27)


def test_only_what_this_pass_computes_is_shared_in_it():
    core = make_caching(ask("a", 1), ask("b", 2), long_prefill_token_threshold=6)
    assert rows_of(core.step()) == [("a", 6), ("b", 5)], "the first chunk fills one block"


def test_nobody_shares_in_a_pass_in_which_decodes_may_still_push_prompts_out():
    core = make_caching(ask("a", 1), ask("b", 2), pass_order=PassOrder.PREFILL_FIRST)
    assert rows_of(core.step()) == [("a", 9), ("b", 9)]


@pytest.mark.parametrize("is_async", [False, True], ids=["in turn", "ahead"])
def test_of_prompts_that_share_in_a_pass_that_failed_all_fail_and_nothing_is_found(is_async):
    core = make_caching(ask("a", 1), ask("b", 2), async_scheduling=is_async)
    assert isinstance(core.runner, CheckedRunner)
    core.runner.fails_next = True
    core.step()
    assert {end.request_id: end.reason for end in events_of(core.log, Finished)} == {
        "a": FinishReason.ERROR,
        "b": FinishReason.ERROR,
    }
    assert (core.queues.pool.num_used, core.queues.pool.cached) == (0, frozenset())
    core.add(ask("c", 3))
    assert rows_of(core.step()) == [("c", 9)]


def test_who_joined_a_pass_ahead_to_share_what_fails_late_fails_with_it():
    core = make_late_failure(ask("a", 1, max_tokens=9), ask("other", prefix=(7,) * 9, max_tokens=9))
    core.step()
    core.add(ask("b", 2))
    core.add(ask("alone", prefix=(5,) * 9))
    assert rows_of(core.step()) == [("a", 1), ("other", 1), ("b", 1), ("alone", 9)]
    run_out(core)
    reasons = {end.request_id: end.reason for end in events_of(core.log, Finished)}
    assert reasons == {
        "a": FinishReason.ERROR,
        "other": FinishReason.ERROR,
        "b": FinishReason.ERROR,
        "alone": FinishReason.LENGTH,
    }


def test_what_an_aborted_one_had_promised_is_not_found_when_its_pass_fails():
    core = make_late_failure(ask("a", 1, max_tokens=9))
    core.step()
    core.abort("a")
    core.step()
    assert core.queues.pool.cached == frozenset()
    core.add(ask("b", 2))
    assert rows_of(core.step()) == [("b", 9)]


def test_a_padded_batch_takes_up_where_each_prompt_is_known():
    core = make_caching(ask("a", 1), **STATIC)
    run_out(core)
    core.add(ask("b", *range(1, 7)))
    core.add(ask("c", *range(1, 4), prefix=()))
    plan = core.step()
    assert (rows_of(plan), plan.num_slots) == ([("b", 6), ("c", 3)], 12)


def test_the_next_turn_finds_the_answer_to_the_one_before():
    core = make_caching(ask("a", 1, max_tokens=8))
    run_out(core)
    core.add(ask("b", 1, *outputs_of(core.log)["a"], 7))
    assert rows_of(core.step()) == [("b", 2)]
    assert hits(core)[0] == 16, "of 17 tokens of prompt and answer; the newest was not computed"


def test_a_pass_that_failed_leaves_nothing_to_be_found():
    core = make_caching(ask("a", 1))
    assert isinstance(core.runner, CheckedRunner)
    core.runner.fails_next = True
    core.step()
    core.add(ask("b", 1))
    assert rows_of(core.step()) == [("b", 9)]
    assert core.queues.pool.num_used == 3


def test_a_chunk_can_be_found_before_the_prompt_is_done():
    core = make_caching(ask("a", *range(20)), max_num_seqs=2, long_prefill_token_threshold=6)
    core.step()
    core.add(ask("b", 1))
    assert rows_of(core.step()) == [("a", 6), ("b", 5)]


def test_who_is_preempted_takes_up_where_its_blocks_still_are_and_does_not_count_as_a_hit():
    first, second = ask("a", 1, max_tokens=20), ask("b", prefix=(5,) * 8, max_tokens=12)
    core = make_caching(first, second, num_kv_blocks=8)
    run_out(core)
    steps = events_of(core.log, Step)
    lookups = [change.lookup for step in steps for change in step.blocks if change.lookup]
    assert any(step.preempted for step in steps)
    resumed = [lookup for lookup in lookups if lookup.is_resumed]
    assert resumed[0].num_hit > 0
    assert hits(core) == (0, 17)


def test_a_knob_that_is_none_of_the_caches_leaves_it_as_it_is():
    core = make_caching(ask("a", 1))
    run_out(core)
    core.configure(replace(core.settings, max_num_seqs=3))
    core.add(ask("b", 1))
    assert rows_of(core.step()) == [("b", 1)]


def test_another_cache_is_empty():
    core = make_caching(ask("a", 1))
    run_out(core)
    core.configure(replace(core.settings, num_kv_blocks=50))
    core.add(ask("b", 1))
    assert rows_of(core.step()) == [("b", 9)]


def test_a_keyframe_names_the_blocks_that_could_be_shared():
    core = make_caching(ask("a", 1))
    run_out(core)
    core.record_keyframe()
    assert events_of(core.log, Keyframe)[-1].cached == (0, 1)


def test_tokens_are_recomputed_only_once_more_by_each_who_asks():
    core = make_caching(ask("a"))
    run_out(core)
    core.add(ask("b"))
    assert rows_of(core.step()) == [("b", 4)], "all but its last block is known"


def test_a_guest_in_the_memory_leaves_nothing_to_be_found():
    core = make_caching(ask("a", 1))
    run_out(core)
    core.clear_cache()
    core.runner.resize(core.queues.pool.num_blocks, 4)
    core.add(ask("b", 1))
    assert rows_of(core.step()) == [("b", 9)]
