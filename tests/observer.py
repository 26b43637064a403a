"""Step an engine and check, around every step, what has to hold whatever the policy."""

from __future__ import annotations

from engine.core import EngineCore
from engine.events import Arrived, Delivered, Finished, Step, Token, Work
from engine.plan import Plan
from engine.request import FinishReason, Sequence, Status
from engine.settings import BatcherName
from tests.replay import Replay, tables_of_sequences


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
        self._slots: dict[tuple[str, int], int | None] = {}
        self._position = 0

    def step(self) -> Plan:
        """Run one step of the engine, checked."""
        running = self.core.queues.running
        decoding = [seq for seq in running if seq.is_decoding and not seq.is_finished]
        members = {seq for seq in running if not seq.is_finished}
        plan = self.core.step()
        self._check_progress(plan, decoding)
        self._check_budget(plan)
        self._check_batch(plan, members)
        self._check_blocks()
        self._check_slots()
        self._read_log(plan)
        self._check_order()
        return plan

    def _check_progress(self, plan: Plan, decoding: list[Sequence]) -> None:
        """No decode starves: it has its token in this pass, or made way for an older one."""
        planned = {row.seq: row.num_tokens for row in plan.rows}
        for seq in decoding:
            assert planned.get(seq) == 1 or seq.status is Status.PREEMPTED
        live = {seq for seq in self.core.queues.running if not seq.is_finished}
        assert live <= planned.keys(), "who holds a slot gets ahead in every pass"

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

    def _check_batch(self, plan: Plan, members: set[Sequence]) -> None:
        """Nobody joins a request-level batch under way."""
        if self.core.batcher.request_level and members:
            assert {row.seq for row in plan.rows if row.num_tokens} == members

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
        """First come, first served: who came earlier is further in every way."""
        order = [*self.core.queues.running, *self.core.queues.waiting]
        places = [self.arrived.index(seq.id) for seq in order]
        assert places == sorted(places)

    def _read_log(self, plan: Plan) -> None:
        events, self._position = self.core.log.since(self._position)
        self.replay.feed(events)
        if not self.core.queues.pool.has_changes:  # or the next record tells of them
            assert self.replay.tables == tables_of_sequences(self.core.queues.running)
        for event in events:
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
                    self._check_rows(event, plan)
                case _:
                    pass

    def _check_rows(self, step: Step, plan: Plan) -> None:
        """The record of a pass shows every slot that was held during it, and what it did."""
        seqs = {row.seq.id: row.seq for row in plan.rows}
        assert {row.request_id for row in step.rows} == seqs.keys()
        assert {seq.id for seq in self.core.queues.running} <= seqs.keys()
        slots = [row.slot for row in step.rows]
        assert slots == sorted(set(slots))
        assert (step.num_tokens, step.num_slots) == (plan.num_tokens, plan.num_slots)
        assert sum(row.num_tokens for row in step.rows) == step.num_tokens
        for row in step.rows:
            seq = seqs[row.request_id]
            assert seq.slot in (row.slot, None), "it may have left right after the pass"
            assert row.num_computed + row.num_tokens == seq.num_computed
            assert row.total_tokens + row.sampled == seq.num_tokens
            has_ended = seq.is_finished and seq.finish_reason is not FinishReason.ABORT
            assert (row.work is Work.HELD) == (has_ended and not row.finished)
            assert (row.num_tokens == 0) == (row.work in (Work.HELD, Work.STALLED))
