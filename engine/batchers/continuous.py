"""Continuous batching: decide anew before every forward pass.

Iteration-level scheduling of Orca (Yu et al. 2022, OSDI) over a paged cache (Kwon et al.
2023), with prompts cut into chunks that share a token budget with the decoding sequences
(Agrawal et al. 2024, Sarathi-Serve).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from engine.plan import Plan, Row, Skip, SkipReason
from engine.queues import Queues
from engine.request import Sequence, Status


@dataclass(frozen=True, slots=True)
class Continuous:
    """Decodes first, then started prompts, then new ones, within one token budget.

    Attributes:
        max_num_seqs: running sequences at most.
        max_num_batched_tokens: tokens a forward pass at most; a longer prompt is chunked.
        enable_chunked_prefill: off, a prompt runs whole, and the decodes beside it wait for it.
        long_prefill_token_threshold: tokens of one prompt in a pass at most; 0 or None for no
            such limit.
    """

    request_level: ClassVar[bool] = False
    max_num_seqs: int = 8
    max_num_batched_tokens: int = 512
    enable_chunked_prefill: bool = True
    long_prefill_token_threshold: int | None = None

    def schedule(self, queues: Queues, now: float) -> Plan:
        queues.retire_finished()
        queues.is_flushing = False  # it never waits for company
        work = _Pass(queues, self.max_num_batched_tokens)

        # 1. Running sequences. Decodes go first, so that no prompt can stall them.
        decodes, others = _split(queues.running)
        for seq in decodes:
            if work.budget and seq.status is Status.RUNNING:  # it may just have made room
                work.add(seq, 1)
        for seq in others:
            if seq.status is Status.RUNNING and (chunk := self._chunk(seq, work)):
                work.add(seq, chunk)

        # 2. Waiting sequences, in order, unless the cache just proved too small.
        skipped: tuple[Skip, ...] = ()
        while queues.waiting and not skipped:
            head = queues.waiting[0]
            chunk = self._chunk(head, work)
            if skip := self._refuse(head, chunk, work):
                skipped = (skip,)
            else:
                work.tokens[queues.admit()] = chunk
                work.budget -= chunk

        return Plan(tuple([Row(*item) for item in work.tokens.items()]), skipped=skipped)

    def _chunk(self, seq: Sequence, work: _Pass) -> int:
        """Tokens of `seq` to compute in what is left of the budget; 0 if it has to wait."""
        budget, num_uncomputed = work.budget, seq.num_uncomputed
        if seq.is_decoding:
            return min(1, budget)
        if self.enable_chunked_prefill:
            limit = self.long_prefill_token_threshold or budget
            return max(0, min(num_uncomputed, limit, budget))
        if num_uncomputed <= budget:
            return num_uncomputed
        # Whole prompts only. The first in a pass may exceed the budget, or it never would run.
        return 0 if any(not other.is_decoding for other in work.tokens) else num_uncomputed

    def _refuse(self, head: Sequence, chunk: int, work: _Pass) -> Skip | None:
        """Why `head` cannot join this pass, or None and its blocks are taken."""
        queues = work.queues
        if len(queues.running) >= self.max_num_seqs:
            return Skip(head.id, SkipReason.SLOTS, 1, 0)
        if not chunk:
            return Skip(head.id, SkipReason.BUDGET, head.num_uncomputed, max(0, work.budget))
        # Who made way a moment ago is the head now, and what it lost is what it waits for.
        num_tokens = head.num_tokens if work.has_preempted else chunk
        if work.has_preempted or not queues.pool.grow(head, chunk):
            need = queues.pool.missing(head, num_tokens)
            return Skip(head.id, SkipReason.BLOCKS, need, queues.pool.num_free)
        return None


@dataclass(slots=True)
class _Pass:
    """The pass that is being put together.

    Attributes:
        budget: tokens that it may still take up.
        tokens: to compute, by sequence, in the order of the rows.
        has_preempted: whether somebody had to make room.
    """

    queues: Queues
    budget: int
    tokens: dict[Sequence, int] = field(default_factory=dict)
    has_preempted: bool = False

    def add(self, seq: Sequence, chunk: int) -> None:
        """Compute tokens of a running sequence; the last to come makes room if it has to."""
        while not self.queues.pool.grow(seq, seq.num_computed + chunk):
            victim = self.queues.running[-1]
            self.queues.preempt(victim)
            self.budget += self.tokens.pop(victim, 0)
            self.has_preempted = True
            if victim is seq:
                return
        self.tokens[seq] = chunk
        self.budget -= chunk


def _split(running: list[Sequence]) -> tuple[list[Sequence], list[Sequence]]:
    """Those that decode and the others, each in order of admission."""
    decodes = [seq for seq in running if seq.is_decoding]
    if len(decodes) == len(running):
        return decodes, []
    return decodes, [seq for seq in running if not seq.is_decoding]
