"""Step an engine and check, around every step, what has to hold whatever the policy."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from engine.core import EngineCore
from engine.events import Arrived, Delivered, Event, Failed, Finished, RowRecord, Step, Token, Work
from engine.plan import Plan
from engine.request import FinishReason, Sequence, Status
from engine.settings import BatcherName, OnFull, PassOrder, SchedulingPolicy
from tests.replay import Replay, tables_of_sequences


class Mark(NamedTuple):
    """Where a sequence of a pass stood after the step that launched it."""

    seq: Sequence
    slot: int | None
    num_computed: int
    num_tokens: int


class Launched(NamedTuple):
    """A pass whose record is still to come."""

    plan: Plan
    marks: dict[str, Mark]
    is_async: bool


class Observer:
    """Looks at an engine's queues, plans and log.

    Attributes:
        replay: the log, folded.
        arrived: requests in order of arrival.
        num_generated, num_delivered: tokens so far, by request.
    """

    def __init__(self, core: EngineCore) -> None:
        self.core = core
        self.replay = Replay()
        self.arrived: list[str] = []
        self.num_generated: dict[str, int] = {}
        self.num_delivered: dict[str, int] = {}
        self.finished: dict[str, Finished] = {}
        self._launched: deque[Launched] = deque()
        self._slots: dict[tuple[str, int], int | None] = {}
        self._position = 0

    def step(self) -> Plan:
        """Run one step of the engine, checked."""
        running = self.core.queues.running
        decoding = [seq for seq in running if seq.is_decoding and not seq.is_finished]
        members = {seq for seq in running if seq.num_uncomputed and not seq.is_finished}
        lengths = {seq: seq.num_tokens for seq in [*running, *self.core.queues.waiting]}
        held = set(running)
        plan = self.core.step()
        if plan.rows:
            seqs = [row.seq for row in plan.rows]
            marks = [Mark(seq, seq.slot, seq.num_computed, seq.num_tokens) for seq in seqs]
            is_async = self.core.info.is_async(self.core.settings)
            self._launched.append(Launched(plan, {mark.seq.id: mark for mark in marks}, is_async))
        if self.core.settings.on_full is OnFull.NO_EVICT:
            assert not any(seq.status is Status.PREEMPTED for seq in members), "there was room"
        self._check_progress(plan, decoding)
        self._check_budget(plan)
        self._check_long_prompts(plan, lengths, held)
        self._check_batch(plan, members)
        self._check_blocks()
        self._check_slots()
        self._read_log()
        self._check_order()
        return plan

    def _check_progress(self, plan: Plan, decoding: list[Sequence]) -> None:
        """No decode starves: it has its token in this pass, or made way for an older one.

        Unless prompts come first: then somebody gets ahead.
        """
        planned = {row.seq: row.num_tokens for row in plan.rows}
        if self._puts_prompts_first():
            live = [seq for seq in self.core.queues.running if not seq.is_finished]
            assert planned or not any(seq.num_uncomputed for seq in live)
            return
        for seq in decoding:
            assert planned.get(seq) == 1 or seq.status is not Status.RUNNING
        live = {seq for seq in self.core.queues.running if not seq.is_finished}
        assert live <= planned.keys(), "who holds a slot gets ahead in every pass"

    def _puts_prompts_first(self) -> bool:
        settings = self.core.settings
        is_continuous = settings.batcher is BatcherName.CONTINUOUS
        return is_continuous and settings.pass_order is not PassOrder.DECODE_FIRST

    def _check_budget(self, plan: Plan) -> None:
        settings = self.core.settings
        assert len(self.core.queues.running) <= settings.num_slots
        if settings.batcher is not BatcherName.CONTINUOUS:
            return
        budget, limit = settings.max_num_batched_tokens, settings.long_prefill_token_threshold
        prefills = [row.num_tokens for row in plan.rows if row.num_tokens > 1]
        if settings.enable_chunked_prefill:
            assert plan.num_tokens <= budget
            assert max(prefills, default=0) <= (limit or budget)
        else:
            assert plan.num_tokens <= budget or len(prefills) == 1

    def _check_long_prompts(
        self, plan: Plan, lengths: dict[Sequence, int], held: set[Sequence]
    ) -> None:
        """No long prompt begins beside as many others as there may be.

        Args:
            lengths: tokens of each sequence before the step.
            held: who had a slot before it.
        """
        settings = self.core.settings
        most, limit = settings.max_long_partial_prefills, settings.long_prefill_token_threshold
        if settings.batcher is not BatcherName.CONTINUOUS or not settings.enable_chunked_prefill:
            return
        unfinished = [row for row in plan.rows if not row.seq.is_finished]
        long = [
            row.seq
            for row in unfinished
            if limit and lengths[row.seq] - (row.seq.num_computed - row.num_tokens) > limit
        ]
        assert not most or len(long) <= most or held.issuperset(long)

    def _check_batch(self, plan: Plan, members: set[Sequence]) -> None:
        """Nobody joins a request-level batch under way."""
        if self.core.batcher.request_level and members:
            running = {row.seq for row in plan.rows if row.num_tokens}
            assert running <= members or not running & members
            assert all(seq.is_finished for seq in members - running), "its token just came in"

    def _check_blocks(self) -> None:
        pool, queues = self.core.queues.pool, self.core.queues
        held = [block for seq in queues.running for block in seq.block_table]
        assert len(set(held)) == pool.num_used == pool.num_blocks - pool.num_free
        assert len(held) == len(set(held)) or pool.is_caching
        assert set(held) <= set(range(pool.num_blocks))
        assert not any(seq.block_table or seq.num_computed for seq in queues.waiting)
        for seq in queues.running:
            assert seq.num_computed <= len(seq.block_table) * pool.block_size

    def _check_slots(self) -> None:
        """A slot has one owner, who keeps it until it is preempted or retired."""
        running = self.core.queues.running
        assert len({seq.slot for seq in running}) == len(running)
        assert all(seq.slot is None for seq in self.core.queues.waiting)
        for seq in running:
            assert seq.slot is not None
            assert seq.slot < self.core.settings.num_slots
            assert self._slots.setdefault((seq.id, seq.num_preemptions), seq.slot) == seq.slot

    def _check_order(self) -> None:
        """First come, first served, if so chosen: who came earlier is further in every way."""
        queues, settings = self.core.queues, self.core.settings
        ranks = [queues.order.rank(seq) for seq in queues.waiting]
        assert ranks == sorted(ranks)
        if settings.scheduling_policy is not SchedulingPolicy.FCFS:
            return
        if settings.max_long_partial_prefills or settings.default_queue_timeout_ms:
            return
        order = [*queues.running, *queues.waiting]
        places = [self.arrived.index(seq.id) for seq in order]
        assert places == sorted(places)

    def _read_log(self) -> None:
        events, self._position = self.core.log.since(self._position)
        self.replay.feed(events)
        # The record of a pass under way, or the next one, tells of what changed last.
        if self.core.executor.flight is None and not self.core.queues.pool.has_changes:
            assert self.replay.tables == tables_of_sequences(self.core.queues.running)
        for event in events:
            self._read(event)

    def _read(self, event: Event) -> None:
        match event:
            case Arrived(request=request):
                self.arrived.append(request.id)
            case Token(request_id=key):
                assert key not in self.finished, "a finished request was given a token"
                self.num_generated[key] = self.num_generated.get(key, 0) + 1
            case Delivered(request_id=key, num_tokens=num_tokens):
                self.num_delivered[key] = self.num_delivered.get(key, 0) + num_tokens
                assert self.num_delivered[key] <= self.num_generated[key]
            case Finished(request_id=key):
                assert key not in self.finished, "a request finished twice"
                self.finished[key] = event
            case Step() if event.rows:
                self._check_rows(event)
            case Failed():
                self._launched.popleft()  # no record tells of a pass that failed
            case _:
                pass

    def _check_rows(self, step: Step) -> None:
        """The record of a pass shows every slot that was held during it, and what it did."""
        plan, marks, is_async = self._launched.popleft()
        assert marks.keys() <= {row.request_id for row in step.rows}
        if not is_async and not self._puts_prompts_first():
            assert {seq.id for seq in self.core.queues.running} <= marks.keys()
        slots = [row.slot for row in step.rows]
        assert slots == sorted(set(slots))
        assert step.num_slots == plan.num_slots
        assert sum(row.num_tokens for row in step.rows) == step.num_tokens
        planned = {row.seq.id: row.num_tokens for row in plan.rows}
        for row in step.rows:
            if row.work is Work.STALLED:
                assert row.num_tokens == 0
                continue
            assert (row.num_tokens == 0) == (row.work in (Work.HELD, Work.STALLED))
            if row.num_tokens == planned.get(row.request_id):
                self._check_row(row, marks[row.request_id], is_async=is_async)
            else:  # it had ended by the time its token came, or its slot was still held
                assert is_async
                assert (row.work, row.num_tokens, row.sampled) == (Work.HELD, 0, False)
                assert row.request_id in self.finished

    def _check_row(self, row: RowRecord, mark: Mark, *, is_async: bool) -> None:
        seq = mark.seq
        assert mark.slot in (row.slot, None), "it may have left right after the pass"
        assert row.num_computed + row.num_tokens == mark.num_computed
        is_last = row.sampled and row.total_tokens + 1 == seq.max_num_tokens
        num_unmarked = is_async and is_last  # nothing stood for it while it was under way
        assert row.total_tokens + row.sampled == mark.num_tokens + num_unmarked
        has_ended = seq.finish_reason in (FinishReason.STOP, FinishReason.LENGTH)
        if not is_async:
            assert (row.work is Work.HELD) == (has_ended and not row.finished)
