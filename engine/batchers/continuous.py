"""Continuous batching: decide anew before every forward pass.

Iteration-level scheduling of Orca (Yu et al. 2022, OSDI) over a paged cache (Kwon et al.
2023), with prompts cut into chunks that share a token budget with the decoding sequences
(Agrawal et al. 2024, Sarathi-Serve).
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
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
        tokens: dict[Sequence, int] = {}  # to compute in this pass, in row order
        budget = self.max_num_batched_tokens

        # 1. Running sequences. Decodes go first, so that no prompt can stall them.
        has_preempted = False
        for seq in sorted(queues.running, key=attrgetter("is_decoding"), reverse=True):
            if seq.status is Status.PREEMPTED:  # a moment ago, to make room
                continue
            chunk = self._chunk(seq, budget, tokens)
            if not chunk:
                continue
            while not queues.pool.grow(seq, seq.num_computed + chunk):
                victim = queues.running[-1]  # the last to come is the first to go
                queues.preempt(victim)
                budget += tokens.pop(victim, 0)
                has_preempted = True
                if victim is seq:
                    break
            else:
                tokens[seq] = chunk
                budget -= chunk

        # 2. Waiting sequences, in order, unless the cache just proved too small.
        skipped: tuple[Skip, ...] = ()
        while queues.waiting and not skipped:
            head = queues.waiting[0]
            chunk = self._chunk(head, budget, tokens)
            if skip := self._refuse(queues, head, chunk, budget, has_preempted):
                skipped = (skip,)
            else:
                tokens[queues.admit()] = chunk
                budget -= chunk

        rows = tuple(Row(seq, chunk) for seq, chunk in tokens.items())
        return Plan(rows, skipped=skipped)

    def _chunk(self, seq: Sequence, budget: int, tokens: dict[Sequence, int]) -> int:
        """Tokens of `seq` to compute in what is left of the budget; 0 if it has to wait."""
        if seq.is_decoding:
            return min(1, budget)
        if self.enable_chunked_prefill:
            limit = self.long_prefill_token_threshold or budget
            return max(0, min(seq.num_uncomputed, limit, budget))
        if seq.num_uncomputed <= budget:
            return seq.num_uncomputed
        # Whole prompts only. The first in a pass may exceed the budget, or it never would run.
        return 0 if any(not other.is_decoding for other in tokens) else seq.num_uncomputed

    def _refuse(
        self, queues: Queues, head: Sequence, chunk: int, budget: int, has_preempted: bool
    ) -> Skip | None:
        """Why `head` cannot join this pass, or None and its blocks are taken."""
        if len(queues.running) >= self.max_num_seqs:
            return Skip(head.id, SkipReason.SLOTS, 1, 0)
        if not chunk:
            return Skip(head.id, SkipReason.BUDGET, head.num_uncomputed, max(0, budget))
        # Who made way a moment ago is the head now, and what it lost is what it waits for.
        num_tokens = head.num_tokens if has_preempted else chunk
        if has_preempted or not queues.pool.grow(head, chunk):
            need = queues.pool.missing(head, num_tokens)
            return Skip(head.id, SkipReason.BLOCKS, need, queues.pool.num_free)
        return None
