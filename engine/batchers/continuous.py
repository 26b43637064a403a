"""Continuous batching: decide anew before every forward pass.

Iteration-level scheduling of Orca (Yu et al. 2022, OSDI) over a paged cache (Kwon et al.
2023), with prompts cut into chunks that share a token budget with the decoding sequences
(Agrawal et al. 2024, Sarathi-Serve). Who may begin is decided as in vLLM, TensorRT-LLM or Text
Generation Inference, as the settings say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from engine.batchers.filling import Filling, split
from engine.batchers.room import blocks_kept, room_wanted
from engine.plan import Plan, Skip, SkipReason
from engine.queues import Queues
from engine.request import Sequence, Status
from engine.settings import OnFull, PassOrder


@dataclass(frozen=True, slots=True)
class Continuous:
    """Started sequences, then new ones, within one token budget.

    Attributes:
        max_num_seqs: running sequences at most.
        max_num_batched_tokens: tokens a forward pass at most; a longer prompt is chunked.
        enable_chunked_prefill: off, a prompt runs whole, and the decodes beside it wait for it.
        long_prefill_token_threshold: tokens of one prompt in a pass at most; 0 or None for no
            such limit.
        max_long_partial_prefills: prompts longer than that which are computed at once at most,
            while shorter ones pass them; 0 for no such limit.
        pass_order: whether decodes or prompts take the budget first.
        on_full: who makes room when the cache is full.
        watermark: share of the blocks that admission leaves free.
        waiting_served_ratio: so many must wait, for each that runs, or nobody is admitted.
        max_waiting_tokens: passes after which one that waits is enough.
    """

    request_level: ClassVar[bool] = False
    max_num_seqs: int = 8
    max_num_batched_tokens: int = 512
    enable_chunked_prefill: bool = True
    long_prefill_token_threshold: int | None = None
    max_long_partial_prefills: int = 0
    pass_order: PassOrder = PassOrder.DECODE_FIRST
    on_full: OnFull = OnFull.PREEMPT_NEWEST
    watermark: float = 0.0
    waiting_served_ratio: float = 0.0
    max_waiting_tokens: int = 20

    def schedule(self, queues: Queues, now: float) -> Plan:
        queues.retire_finished()
        queues.is_flushing = False  # it never waits for company
        filling = Filling(queues, self.max_num_batched_tokens, self.on_full)
        decodes, prefills = split(queues.running)
        if self.pass_order is PassOrder.DECODE_FIRST:
            self._decode(decodes, filling)
        self._prefill(prefills, filling)
        skipped = self._admit(filling)
        if self.pass_order is PassOrder.PREFILL_FIRST or not filling.tokens:
            self._decode(decodes, filling)
            skipped = self._admit(filling) if filling.has_preempted else skipped
        queues.num_since_admission += bool(filling.tokens)
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

    def _admit(self, filling: Filling) -> tuple[Skip, ...]:
        """Let waiting sequences begin, in order; return why those at the front cannot."""
        queues, held = filling.queues, None
        if skip := self._lull(queues):
            return (skip,)
        while queues.waiting:
            if len(queues.running) >= self.max_num_seqs:
                return (Skip(queues.waiting[0].id, SkipReason.SLOTS, 1, 0),)
            seq, held = self._next(queues)
            if seq is None:
                break
            if skip := self._begin(seq, filling):
                return (held, skip) if held else (skip,)
        return (held,) if held else ()

    def _lull(self, queues: Queues) -> Skip | None:
        """Why the decodes are not to be interrupted now, or None."""
        wanted = int(len(queues.running) * self.waiting_served_ratio)
        num_waiting = len(queues.waiting)
        if not 0 < num_waiting < wanted or queues.num_since_admission >= self.max_waiting_tokens:
            return None
        return Skip(queues.waiting[0].id, SkipReason.RATIO, wanted, num_waiting)

    def _next(self, queues: Queues) -> tuple[Sequence | None, Skip | None]:
        """Whose turn it is, and why it is not the head's."""
        head, most = queues.waiting[0], self.max_long_partial_prefills
        if not most or not self._is_long(head):
            return head, None
        if sum(map(self._is_long, queues.running)) < most:
            return head, None
        shorter = (seq for seq in queues.waiting if not self._is_long(seq))
        return next(shorter, None), Skip(head.id, SkipReason.LONG_PROMPTS, 1, 0)

    def _begin(self, seq: Sequence, filling: Filling) -> Skip | None:
        """Admit a sequence, or say what is lacking."""
        queues, pool = filling.queues, filling.queues.pool
        prefix = pool.find_prefix(seq)
        num_hit = len(prefix) * pool.block_size
        chunk = self._chunk(seq.num_uncomputed - num_hit, filling)
        if not chunk:
            left = max(0, filling.budget)
            return Skip(seq.id, SkipReason.BUDGET, seq.num_uncomputed - num_hit, left)
        if filling.has_preempted:  # perhaps this one, and then it waits for what it lost
            need = pool.missing(seq, seq.num_tokens, prefix)
            return Skip(seq.id, SkipReason.BLOCKS, need, pool.num_free)
        need = pool.missing(seq, room_wanted(seq, num_hit + chunk, self.on_full), prefix)
        free = pool.num_free - blocks_kept(queues, self.on_full, self.watermark)
        if need > free:
            return Skip(seq.id, SkipReason.BLOCKS, need, max(0, free))
        begun = pool.begin(seq, num_hit + chunk, prefix)
        assert begun, f"{seq.id}: the cache has fewer blocks than it counted"
        filling.give(queues.admit(seq), chunk)
        if self.pass_order is not PassOrder.PREFILL_FIRST:  # where decodes may yet take its blocks
            pool.promise(seq, num_hit + chunk)
        return None

    def _chunk(self, num_uncomputed: int, filling: Filling) -> int:
        """Tokens of a prompt to compute in what is left of the budget; 0 if it has to wait."""
        if self.enable_chunked_prefill:
            limit = self.long_prefill_token_threshold or filling.budget
            return max(0, min(num_uncomputed, limit, filling.budget))
        if num_uncomputed <= filling.budget:
            return num_uncomputed
        # Whole prompts only. The first in a pass may exceed the budget, or it never would run.
        return 0 if filling.has_prompt else num_uncomputed

    def _is_long(self, seq: Sequence) -> bool:
        """Whether more of a prompt is left than a pass may take of it."""
        limit = self.long_prefill_token_threshold or 0
        return self.enable_chunked_prefill and 0 < limit < seq.num_uncomputed
