"""Continuous batching: decide anew before every forward pass.

Iteration-level scheduling of Orca (Yu et al. 2022, OSDI) over a paged cache (Kwon et al.
2023), with prompts cut into chunks that share a token budget with the decoding sequences
(Agrawal et al. 2024, Sarathi-Serve).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from engine.batchers.filling import Filling, split
from engine.plan import Plan, Skip, SkipReason
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
        filling = Filling(queues, self.max_num_batched_tokens)
        decodes, prefills = split(queues.running)
        self._decode(decodes, filling)  # first, so that no prompt can stall them
        self._prefill(prefills, filling)
        skipped = self._admit(queues, filling)
        return Plan(filling.rows, skipped=skipped)

    def _decode(self, seqs: list[Sequence], filling: Filling) -> None:
        """Give each a token, except for those that just made room."""
        for seq in seqs:
            if filling.budget > 0 and seq.status is Status.RUNNING:
                filling.add(seq, 1)

    def _prefill(self, seqs: list[Sequence], filling: Filling) -> None:
        """Go on with prompts that were begun."""
        for seq in seqs:
            if seq.status is Status.RUNNING and (chunk := self._chunk(seq.num_uncomputed, filling)):
                filling.add(seq, chunk)

    def _admit(self, queues: Queues, filling: Filling) -> tuple[Skip, ...]:
        """Let waiting sequences begin, in order, until one of them has to wait on."""
        while queues.waiting:
            head = queues.waiting[0]
            if len(queues.running) >= self.max_num_seqs:
                return (Skip(head.id, SkipReason.SLOTS, 1, 0),)
            prefix = queues.pool.find_prefix(head)
            num_hit = len(prefix) * queues.pool.block_size
            chunk = self._chunk(head.num_uncomputed - num_hit, filling)
            if not chunk:
                left = max(0, filling.budget)
                return (Skip(head.id, SkipReason.BUDGET, head.num_uncomputed - num_hit, left),)
            if filling.has_preempted or not queues.pool.begin(head, num_hit + chunk, prefix):
                # Who made way a moment ago is the head now, and waits for what it lost.
                num_tokens = head.num_tokens if filling.has_preempted else num_hit + chunk
                need = queues.pool.missing(head, num_tokens, prefix)
                return (Skip(head.id, SkipReason.BLOCKS, need, queues.pool.num_free),)
            filling.give(queues.admit(), chunk)
        return ()

    def _chunk(self, num_uncomputed: int, filling: Filling) -> int:
        """Tokens of a prompt to compute in what is left of the budget; 0 if it has to wait."""
        if self.enable_chunked_prefill:
            limit = self.long_prefill_token_threshold or filling.budget
            return max(0, min(num_uncomputed, limit, filling.budget))
        if num_uncomputed <= filling.budget:
            return num_uncomputed
        # Whole prompts only. The first in a pass may exceed the budget, or it never would run.
        return 0 if filling.has_prompt else num_uncomputed
