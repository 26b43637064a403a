"""What each policy decides, with no runner: plans are made and then pretended to have run."""

from __future__ import annotations

from dataclasses import fields

import pytest

from engine.batchers import BATCHERS, Continuous, Dynamic, Static, make_batcher
from engine.plan import Batcher, Plan, Skip, SkipReason
from engine.queues import Queues
from engine.request import Sequence, Status
from engine.settings import BatcherName, EngineSettings, Start
from tests.builders import ask, make_queues, pretend_ran, queue_up, rows_of


def run_passes(batcher: Batcher, queues: Queues, count: int, now: float = 0.0) -> list[Plan]:
    """Plan and pretend to run some passes."""
    plans = []
    for _ in range(count):
        plans.append(batcher.schedule(queues, now))
        pretend_ran(plans[-1])
    return plans


def ids(seqs) -> list[str]:
    return [seq.id for seq in seqs]


class TestStatic:
    def test_it_waits_until_the_batch_is_full(self):
        queues, batcher = make_queues(3), Static(max_batch_size=2)
        plan = batcher.schedule(queues, now=1e9)
        assert plan == Plan(
            rectangular=True, skipped=(Skip("r0", SkipReason.COMPANY, needed=2, available=1),)
        )
        queue_up(queues, 5)
        assert rows_of(batcher.schedule(queues, now=1e9)) == [("r0", 3), ("r0", 5)]

    def test_an_idle_engine_starts_with_what_is_there(self):
        queues = make_queues(3)
        plan = Static(max_batch_size=2, start=Start.IDLE).schedule(queues, 0.0)
        assert rows_of(plan) == [("r0", 3)]

    def test_prompts_are_padded_to_the_longest(self):
        plan = Static(max_batch_size=2).schedule(make_queues(3, 5), 0.0)
        assert (rows_of(plan), plan.num_tokens, plan.num_slots) == ([("r0", 3), ("r1", 5)], 8, 10)

    def test_a_finished_sequence_leaves_a_dead_row_until_the_batch_ends(self):
        queues, batcher = make_queues(3, max_tokens=1), Static(max_batch_size=2)
        queues.enqueue(Sequence(ask("long", 5, max_tokens=3)))
        plans = run_passes(batcher, queues, 3)
        assert [rows_of(plan) for plan in plans] == [
            [("r0", 3), ("long", 5)],
            [("r0", 0), ("long", 1)],
            [("r0", 0), ("long", 1)],
        ]
        assert queues.pool.num_used == 1 + 2, "the dead row still holds its block"
        assert batcher.schedule(queues, 0.0).rows == ()
        assert (queues.running, queues.pool.num_used) == ([], 0)

    def test_nobody_joins_a_batch_under_way(self):
        queues, batcher = make_queues(3, 3, 3), Static(max_batch_size=2)
        run_passes(batcher, queues, 1)
        plan = batcher.schedule(queues, 0.0)
        assert rows_of(plan) == [("r0", 1), ("r1", 1)]
        assert plan.skipped == (Skip("r2", SkipReason.POLICY),)

    def test_the_next_batch_forms_in_the_pass_after_the_last_one_ended(self):
        queues, batcher = make_queues(3, 3, 3, 3, max_tokens=1), Static(max_batch_size=2)
        first, second = run_passes(batcher, queues, 2)
        assert (rows_of(first), rows_of(second)) == (
            [("r0", 3), ("r1", 3)],
            [("r2", 3), ("r3", 3)],
        )

    def test_a_flush_starts_one_incomplete_batch_and_no_more(self):
        queues, batcher = make_queues(3, max_tokens=1), Static(max_batch_size=2)
        queues.is_flushing = True
        assert rows_of(run_passes(batcher, queues, 1)[0]) == [("r0", 3)]
        queue_up(queues, 4)
        assert batcher.schedule(queues, 0.0).rows == ()

    def test_a_flush_during_a_batch_is_for_the_next_one(self):
        queues, batcher = make_queues(3, 3, 5, max_tokens=2), Static(max_batch_size=2)
        run_passes(batcher, queues, 1)
        queues.is_flushing = True
        plans = run_passes(batcher, queues, 2)
        assert [rows_of(plan) for plan in plans] == [[("r0", 1), ("r1", 1)], [("r2", 5)]]


class TestRequestLevelCache:
    """A batch is admitted up to what the cache holds for its longest possible outputs."""

    def test_a_batch_stops_before_the_request_that_would_not_fit(self):
        queues = make_queues(4, 4, 4, max_tokens=4, num_blocks=5)
        plan = Static(max_batch_size=3).schedule(queues, 0.0)
        assert rows_of(plan) == [("r0", 4), ("r1", 4)]
        assert plan.skipped == (Skip("r2", SkipReason.BLOCKS, needed=2, available=1),)

    def test_a_smaller_one_further_back_does_not_overtake(self):
        queues = make_queues(4, num_blocks=4)
        queues.enqueue(Sequence(ask("big", 8, max_tokens=8)))
        queues.enqueue(Sequence(ask("small", 1, max_tokens=1)))
        plan = Static(max_batch_size=3).schedule(queues, 0.0)
        assert rows_of(plan) == [("r0", 4)]
        assert plan.skipped == (Skip("big", SkipReason.BLOCKS, needed=4, available=2),)

    def test_a_batch_that_was_admitted_never_runs_out(self):
        queues = make_queues(4, 4, max_tokens=4, num_blocks=4)
        plans = run_passes(Static(max_batch_size=2), queues, 4)
        assert [plan.num_tokens for plan in plans] == [8, 2, 2, 2]
        assert all(seq.is_finished for seq in queues.running)
        assert queues.pool.num_used == 4

    def test_a_full_batch_says_that_there_is_no_slot(self):
        plan = Static(max_batch_size=2).schedule(make_queues(4, 4, 4), 0.0)
        assert plan.skipped == (Skip("r2", SkipReason.SLOTS, needed=1, available=0),)


class TestDynamic:
    def test_a_full_batch_starts_at_once(self):
        batcher = Dynamic(max_batch_size=2, max_queue_delay_ms=1e6)
        assert rows_of(batcher.schedule(make_queues(3, 5), 0.0)) == [("r0", 3), ("r1", 5)]

    def test_the_wait_is_counted_from_the_oldest_request(self):
        queues = make_queues(3, arrival=1.0)
        queue_up(queues, 3, arrival=1.4)
        batcher = Dynamic(max_batch_size=3, max_queue_delay_ms=500.0)
        plan = batcher.schedule(queues, now=1.45)
        assert (plan.rows, plan.wake_at) == ((), 1.5)
        assert plan.skipped == (Skip("r0", SkipReason.COMPANY, 3, 2, until=1.5),)
        assert rows_of(batcher.schedule(queues, now=1.5)) == [("r0", 3), ("r0", 3)]

    def test_a_wait_that_passed_while_the_engine_was_busy_is_over(self):
        queues, batcher = make_queues(3, max_tokens=2), Dynamic(2, max_queue_delay_ms=500.0)
        run_passes(batcher, queues, 1, now=0.5)
        queue_up(queues, 5, arrival=0.6)
        busy = batcher.schedule(queues, now=7.0)
        assert (rows_of(busy), busy.wake_at) == ([("r0", 1)], None)
        assert busy.skipped == (Skip("r0", SkipReason.POLICY),)
        pretend_ran(busy)
        assert rows_of(batcher.schedule(queues, now=8.0)) == [("r0", 5)]

    def test_there_is_never_an_empty_batch(self):
        queues, batcher = make_queues(), Dynamic(max_queue_delay_ms=0.0)
        queues.is_flushing = True
        assert batcher.schedule(queues, now=1e9) == Plan(rectangular=True)

    def test_it_does_not_wake_for_an_empty_queue(self):
        queues, batcher = make_queues(3, max_tokens=1), Dynamic(max_queue_delay_ms=10.0)
        run_passes(batcher, queues, 1, now=1.0)
        assert batcher.schedule(queues, now=2.0).wake_at is None

    def test_a_flush_ends_the_wait(self):
        queues, batcher = make_queues(3), Dynamic(max_queue_delay_ms=1e6)
        queues.is_flushing = True
        assert rows_of(batcher.schedule(queues, 0.0)) == [("r0", 3)]

    def test_a_preferred_size_starts_at_once_and_the_largest_that_can_be_formed_wins(self):
        batcher = Dynamic(8, max_queue_delay_ms=1e6, preferred_batch_size=(2, 4))
        sizes = [len(batcher.schedule(make_queues(*[3] * n), 0.0).rows) for n in range(1, 10)]
        assert sizes == [0, 2, 2, 4, 4, 4, 4, 4, 4]

    def test_a_batch_of_no_preferred_size_starts_as_it_is_when_the_delay_is_over(self):
        batcher = Dynamic(8, max_queue_delay_ms=500.0, preferred_batch_size=(4,))
        queues = make_queues(3, 3, 3)
        assert batcher.schedule(queues, now=0.4).wake_at == 0.5
        assert len(batcher.schedule(queues, now=0.5).rows) == 3

    def test_no_delay_means_no_wait(self):
        assert rows_of(Dynamic(8, 0.0).schedule(make_queues(3), 0.0)) == [("r0", 3)]


class TestContinuous:
    def test_a_prompt_is_cut_to_what_the_decodes_leave_of_the_budget(self):
        queues, batcher = make_queues(4, 20), Continuous(max_num_batched_tokens=8)
        plans = run_passes(batcher, queues, 4)
        assert [rows_of(plan) for plan in plans] == [
            [("r0", 4), ("r1", 4)],
            [("r0", 1), ("r1", 7)],
            [("r0", 1), ("r1", 7)],
            [("r0", 1), ("r1", 2)],
        ]

    def test_no_token_is_sampled_before_the_last_chunk(self):
        queues, batcher = make_queues(20), Continuous(max_num_batched_tokens=8)
        plans = [batcher.schedule(queues, 0.0)]
        assert [row.samples for row in plans[0].rows] == [False]
        pretend_ran(plans[0])
        pretend_ran(batcher.schedule(queues, 0.0))
        assert [row.samples for row in batcher.schedule(queues, 0.0).rows] == [True]

    def test_decodes_go_first_whatever_their_age(self):
        queues, batcher = make_queues(20, 2), Continuous(2, 12, long_prefill_token_threshold=8)
        first, second = run_passes(batcher, queues, 2)
        assert rows_of(first) == [("r0", 8), ("r1", 2)]
        assert rows_of(second) == [("r1", 1), ("r0", 8)]

    def test_the_threshold_leaves_room_for_a_second_prompt(self):
        queues = make_queues(20, 20)
        batcher = Continuous(max_num_batched_tokens=12, long_prefill_token_threshold=8)
        assert rows_of(batcher.schedule(queues, 0.0)) == [("r0", 8), ("r1", 4)]

    @pytest.mark.parametrize("threshold", [0, None])
    def test_without_a_threshold_one_prompt_may_take_the_whole_budget(self, threshold):
        batcher = Continuous(8, 12, long_prefill_token_threshold=threshold)
        plan = batcher.schedule(make_queues(20, 20), 0.0)
        assert rows_of(plan) == [("r0", 12)]
        assert plan.skipped == (Skip("r1", SkipReason.BUDGET, needed=20, available=0),)

    def test_a_newcomer_joins_the_pass_after_a_slot_became_free(self):
        queues, batcher = make_queues(4, 4, 4, max_tokens=1), Continuous(max_num_seqs=2)
        first, second = run_passes(batcher, queues, 2)
        assert first.skipped == (Skip("r2", SkipReason.SLOTS, needed=1, available=0),)
        assert (rows_of(second), second.skipped) == ([("r2", 4)], ())
        assert queues.running[0].slot == 0

    def test_a_request_whose_first_chunk_finds_no_blocks_waits(self):
        queues, batcher = make_queues(8, 12, num_blocks=4), Continuous()
        plan = batcher.schedule(queues, 0.0)
        assert rows_of(plan) == [("r0", 8)]
        assert plan.skipped == (Skip("r1", SkipReason.BLOCKS, needed=3, available=2),)

    def test_it_never_pads(self):
        assert not Continuous().schedule(make_queues(3, 5), 0.0).rectangular

    def test_it_never_waits_for_company_so_a_flush_is_spent_at_once(self):
        queues = make_queues(3)
        queues.is_flushing = True
        assert rows_of(Continuous().schedule(queues, 0.0)) == [("r0", 3)]
        assert not queues.is_flushing


class TestWholePrompts:
    """Continuous batching with chunked prefill switched off."""

    batcher = Continuous(max_num_batched_tokens=8, enable_chunked_prefill=False)

    def test_prompts_that_fit_the_budget_together_share_a_pass(self):
        plan = self.batcher.schedule(make_queues(3, 5, 1), 0.0)
        assert rows_of(plan) == [("r0", 3), ("r1", 5)]
        assert plan.skipped == (Skip("r2", SkipReason.BUDGET, needed=1, available=0),)

    def test_a_prompt_longer_than_the_budget_runs_whole_and_alone(self):
        queues = make_queues(20, 1)
        plan = self.batcher.schedule(queues, 0.0)
        assert rows_of(plan) == [("r0", 20)]
        assert plan.skipped == (Skip("r1", SkipReason.BUDGET, needed=1, available=0),)
        pretend_ran(plan)
        assert rows_of(self.batcher.schedule(queues, 0.0)) == [("r0", 1), ("r1", 1)]

    def test_a_long_prompt_does_not_join_a_pass_that_has_a_prompt(self):
        plan = self.batcher.schedule(make_queues(3, 20), 0.0)
        assert rows_of(plan) == [("r0", 3)]
        assert plan.skipped == (Skip("r1", SkipReason.BUDGET, needed=20, available=5),)

    def test_a_long_prompt_joins_decodes(self):
        queues = make_queues(3, 20)
        pretend_ran(self.batcher.schedule(queues, 0.0))
        assert rows_of(self.batcher.schedule(queues, 0.0)) == [("r0", 1), ("r1", 20)]


class TestPreemption:
    def test_the_last_to_come_is_the_first_to_go(self):
        queues, batcher = make_queues(4, 4, 4, num_blocks=3), Continuous()
        run_passes(batcher, queues, 1)
        plan = batcher.schedule(queues, 0.0)
        assert rows_of(plan) == [("r0", 1)]
        assert ids(queues.waiting) == ["r1", "r2"]
        assert [seq.status for seq in queues.waiting] == [Status.PREEMPTED] * 2
        assert [seq.num_computed for seq in queues.waiting] == [0, 0]

    def test_a_victim_gives_its_share_of_the_budget_back(self):
        queues = make_queues(20, 20, 4, num_blocks=4)
        pretend_ran(Continuous(8, 12, long_prefill_token_threshold=4).schedule(queues, 0.0))
        plan = Continuous(8, 8, long_prefill_token_threshold=4).schedule(queues, 0.0)
        assert ids(queues.waiting) == ["r2"], "it had a token of the budget before it had to go"
        assert rows_of(plan) == [("r0", 4), ("r1", 4)]

    def test_who_was_preempted_is_not_admitted_again_in_the_same_pass(self):
        queues = make_queues(4, 13, num_blocks=5)
        pretend_ran(Continuous().schedule(queues, 0.0))
        smaller = Continuous(max_num_batched_tokens=8)  # a chunk of r1 would fit again
        plan = smaller.schedule(queues, 0.0)
        assert rows_of(plan) == [("r0", 1)]
        assert plan.skipped == (Skip("r1", SkipReason.BLOCKS, needed=4, available=3),)

    def test_the_preempted_resume_before_newcomers_and_recompute_their_output(self):
        queues, batcher = make_queues(4, 4, max_tokens=2, num_blocks=2), Continuous()
        first, second = run_passes(batcher, queues, 2)
        queue_up(queues, 1)
        third = batcher.schedule(queues, 0.0)
        assert [rows_of(plan) for plan in (first, second)] == [[("r0", 4), ("r1", 4)], [("r0", 1)]]
        assert rows_of(third) == [("r1", 5)]
        assert third.rows[0].samples

    def test_the_youngest_makes_way_for_an_older_prompt_even_if_it_decodes(self):
        queues = make_queues(16, 3, num_blocks=4)
        batcher = Continuous(max_num_batched_tokens=16, long_prefill_token_threshold=12)
        first, second = run_passes(batcher, queues, 2)
        assert rows_of(first) == [("r0", 12), ("r1", 3)]
        assert (rows_of(second), ids(queues.waiting)) == ([("r0", 4)], ["r1"])

    def test_the_oldest_has_the_whole_cache_if_it_needs_it(self):
        queues, batcher = make_queues(4, 4, max_tokens=9, num_blocks=3), Continuous()
        plans = run_passes(batcher, queues, 9)
        assert all(rows_of(plan)[0][0] == "r0" for plan in plans)
        assert queues.running[0].is_finished


@pytest.mark.parametrize("name", BatcherName)
def test_every_batcher_takes_its_fields_from_the_settings_of_the_same_name(name: BatcherName):
    settings = EngineSettings(
        name,
        max_num_seqs=3,
        max_num_batched_tokens=33,
        enable_chunked_prefill=False,
        long_prefill_token_threshold=5,
        max_batch_size=7,
        max_queue_delay_ms=11.0,
        start=Start.IDLE,
    )
    batcher = make_batcher(settings)
    assert type(batcher) is BATCHERS[name]
    for field in fields(BATCHERS[name]):
        assert getattr(batcher, field.name) == getattr(settings, field.name)


def test_every_policy_has_a_batcher():
    assert set(BATCHERS) == set(BatcherName)
