"""Who may begin, who goes first in a pass, and who makes room: the policies of continuous."""

from __future__ import annotations

import pytest

from engine.batchers import Continuous
from engine.order import Order
from engine.plan import Plan, Skip, SkipReason
from engine.queues import Queues
from engine.request import Request, SamplingParams, Sequence
from engine.settings import OnFull, PassOrder, SchedulingPolicy
from tests.builders import make_queues, pretend_ran, queue_up, rows_of


def run_passes(batcher: Continuous, queues: Queues, count: int) -> list[Plan]:
    plans = []
    for _ in range(count):
        plans.append(batcher.schedule(queues, 0.0))
        pretend_ran(plans[-1])
    return plans


def add(queues: Queues, name: str, prompt: int, most: int = 4, priority: int = 0) -> None:
    sampling = SamplingParams(max_tokens=most)
    queues.enqueue(Sequence(Request(name, (1,) * prompt, sampling, priority=priority)))


class TestPassOrder:
    def decoding(self) -> Queues:
        """One that decodes, and a prompt of six that waits."""
        queues = make_queues(2, max_tokens=9)
        run_passes(Continuous(), queues, 1)
        add(queues, "new", 6)
        return queues

    def test_decodes_first_share_the_pass_with_what_is_left_for_prompts(self):
        batcher = Continuous(max_num_seqs=2, max_num_batched_tokens=4)
        plans = run_passes(batcher, self.decoding(), 2)
        assert [rows_of(plan) for plan in plans] == [[("r0", 1), ("new", 3)]] * 2

    def test_prompts_first_leave_decodes_what_is_over(self):
        batcher = Continuous(
            max_num_seqs=2, max_num_batched_tokens=4, pass_order=PassOrder.PREFILL_FIRST
        )
        plans = run_passes(batcher, self.decoding(), 2)
        assert [rows_of(plan) for plan in plans] == [[("new", 4)], [("new", 2), ("r0", 1)]]

    def test_decodes_pause_for_prompts_that_run_alone(self):
        batcher = Continuous(pass_order=PassOrder.PREFILL_ALONE)
        plans = run_passes(batcher, self.decoding(), 2)
        assert [rows_of(plan) for plan in plans] == [[("new", 6)], [("r0", 1), ("new", 1)]]

    def test_who_has_to_make_room_for_a_decode_that_came_last_is_said(self):
        queues = make_queues(4, num_blocks=2, max_tokens=5)
        batcher = Continuous(pass_order=PassOrder.PREFILL_FIRST)
        run_passes(batcher, queues, 1)
        add(queues, "new", 4)
        plan = batcher.schedule(queues, 0.0)
        assert rows_of(plan) == [("r0", 1)]
        assert plan.skipped == (Skip("new", SkipReason.BLOCKS, 1, 0),)


class TestOnFull:
    def test_the_last_in_line_makes_room_whenever_it_came(self):
        queues = make_queues(num_blocks=3)
        queues.reorder(Order(SchedulingPolicy.PRIORITY))
        batcher = Continuous(on_full=OnFull.PREEMPT_LOWEST)
        add(queues, "low", 4, priority=9)
        run_passes(batcher, queues, 1)
        add(queues, "high", 3, most=9, priority=1)
        run_passes(batcher, queues, 2)
        assert [seq.id for seq in queues.running] == ["low", "high"]
        plan = batcher.schedule(queues, 0.0)
        assert rows_of(plan) == [("high", 1)]
        assert [seq.id for seq in queues.waiting] == ["low"]

    def test_the_newest_makes_room_by_default(self):
        queues = make_queues(4, 3, num_blocks=3, max_tokens=9)
        run_passes(Continuous(), queues, 2)
        assert rows_of(Continuous().schedule(queues, 0.0)) == [("r0", 1)]

    def test_without_eviction_admission_leaves_room_for_whole_outputs(self):
        queues = make_queues(4, 4, num_blocks=5, max_tokens=6)
        batcher = Continuous(on_full=OnFull.NO_EVICT)
        first, *others = run_passes(batcher, queues, 6)
        assert rows_of(first) == [("r0", 4)]
        assert first.skipped == (Skip("r1", SkipReason.BLOCKS, 3, 2),)
        assert all(rows_of(plan) == [("r0", 1)] for plan in others)
        assert rows_of(batcher.schedule(queues, 0.0)) == [("r1", 4)]

    def test_two_that_fit_to_the_end_run_together(self):
        queues = make_queues(4, 4, num_blocks=6, max_tokens=6)
        plan = Continuous(on_full=OnFull.NO_EVICT).schedule(queues, 0.0)
        assert rows_of(plan) == [("r0", 4), ("r1", 4)]


class TestWatermark:
    def test_admission_leaves_a_share_of_the_blocks_free(self):
        queues = make_queues(8, 8, 8, num_blocks=8)
        plan = Continuous(watermark=0.3).schedule(queues, 0.0)
        assert rows_of(plan) == [("r0", 8), ("r1", 8)]
        assert plan.skipped == (Skip("r2", SkipReason.BLOCKS, 2, 1),)

    def test_who_runs_may_use_it(self):
        queues = make_queues(4, num_blocks=2, max_tokens=4)
        plans = run_passes(Continuous(watermark=0.5), queues, 2)
        assert [rows_of(plan) for plan in plans] == [[("r0", 4)], [("r0", 1)]]

    def test_it_never_keeps_an_engine_idle(self):
        queues = make_queues(20, num_blocks=6, max_tokens=4)
        assert rows_of(Continuous(watermark=0.5).schedule(queues, 0.0)) == [("r0", 20)]


class TestLongPrompts:
    def test_short_ones_pass_a_long_one_that_waits_for_another(self):
        batcher = Continuous(long_prefill_token_threshold=4, max_long_partial_prefills=1)
        queues = make_queues(12, 12, 3)
        first, second, third = run_passes(batcher, queues, 3)
        assert rows_of(first) == [("r0", 4), ("r2", 3)]
        assert first.skipped == (Skip("r1", SkipReason.LONG_PROMPTS, 1, 0),)
        assert rows_of(second) == [("r2", 1), ("r0", 4)]
        assert rows_of(third) == [("r2", 1), ("r0", 4), ("r1", 4)], "r0 reads its last chunk"

    def test_without_a_limit_they_run_together(self):
        batcher = Continuous(long_prefill_token_threshold=4)
        plan = batcher.schedule(make_queues(12, 12, 3), 0.0)
        assert rows_of(plan) == [("r0", 4), ("r1", 4), ("r2", 3)]

    def test_the_head_and_the_one_that_was_to_pass_it_both_say_why_not(self):
        batcher = Continuous(
            max_num_batched_tokens=8, long_prefill_token_threshold=6, max_long_partial_prefills=1
        )
        queues = make_queues(12, 12, 2, 2)
        plan = batcher.schedule(queues, 0.0)
        assert rows_of(plan) == [("r0", 6), ("r2", 2)]
        assert plan.skipped == (
            Skip("r1", SkipReason.LONG_PROMPTS, 1, 0),
            Skip("r3", SkipReason.BUDGET, 2, 0),
        )


class TestServedRatio:
    """As the router of Text Generation Inference decides when decodes pause."""

    batcher = Continuous(
        waiting_served_ratio=0.5, max_waiting_tokens=3, pass_order=PassOrder.PREFILL_ALONE
    )

    def served(self) -> Queues:
        """Four that decode; nobody waits yet."""
        queues = make_queues(2, 2, 2, 2, max_tokens=20)
        run_passes(self.batcher, queues, 1)
        return queues

    def test_too_few_do_not_interrupt_and_enough_do(self):
        queues = self.served()
        queue_up(queues, 3)
        plan = run_passes(self.batcher, queues, 1)[0]
        assert plan.num_tokens == 4
        assert plan.skipped == (Skip("r0", SkipReason.RATIO, 2, 1),)
        queue_up(queues, 5)
        assert rows_of(self.batcher.schedule(queues, 0.0)) == [("r0", 3), ("r0", 5)]

    def test_after_so_many_passes_one_is_enough(self):
        queues = self.served()
        queue_up(queues, 3)
        plans = run_passes(self.batcher, queues, 4)
        assert [plan.num_tokens for plan in plans] == [4, 4, 3, 5]

    def test_an_idle_engine_waits_for_nobody(self):
        assert rows_of(self.batcher.schedule(make_queues(3), 0.0)) == [("r0", 3)]


@pytest.mark.parametrize("policy", SchedulingPolicy)
def test_the_first_in_line_is_admitted_first(policy):
    queues = make_queues()
    queues.reorder(Order(policy))
    for name, prompt, most, priority in (("a", 9, 2, 1), ("b", 3, 8, 2), ("c", 6, 5, 0)):
        add(queues, name, prompt, most, priority)
    head = queues.waiting[0].id
    assert rows_of(Continuous(max_num_seqs=1).schedule(queues, 0.0))[0][0] == head
