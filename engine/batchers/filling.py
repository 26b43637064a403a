"""`Filling`: a forward pass of continuous batching while it is put together."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.plan import Row
from engine.queues import Queues
from engine.request import Sequence
from engine.settings import OnFull


@dataclass(slots=True)
class Filling:
    """Who computes how many tokens, and how many are left to give away.

    Attributes:
        budget: tokens that it may still take up; below 0 where a whole prompt exceeded it.
        tokens: to compute, by sequence, in the order of the rows.
        has_preempted: somebody had to make room, so that nobody new may take blocks.
    """

    queues: Queues
    budget: int
    on_full: OnFull = OnFull.PREEMPT_NEWEST
    tokens: dict[Sequence, int] = field(default_factory=dict)
    has_preempted: bool = False

    @property
    def rows(self) -> tuple[Row, ...]:
        # A row's own way of being made takes half as long again.
        return tuple([tuple.__new__(Row, item) for item in self.tokens.items()])

    @property
    def has_prompt(self) -> bool:
        """Whether a prompt, or a part of one, is in the pass."""
        return any(not seq.is_decoding for seq in self.tokens)

    def add(self, seq: Sequence, chunk: int) -> None:
        """Compute tokens of a running sequence; somebody makes room if it has to be."""
        while not self.queues.pool.grow(seq, seq.num_computed + chunk):
            victim = self._victim()
            self.queues.preempt(victim)
            self.budget += self.tokens.pop(victim, 0)
            self.has_preempted = True
            if victim is seq:
                return
        self.give(seq, chunk)

    def give(self, seq: Sequence, chunk: int) -> None:
        """Compute tokens of a sequence that holds the blocks for them."""
        self.tokens[seq] = chunk
        self.budget -= chunk

    def _victim(self) -> Sequence:
        """The last to come or, by choice, the last in line."""
        running = self.queues.running
        if self.on_full is OnFull.PREEMPT_LOWEST:
            return max(running, key=self.queues.order.rank)
        return running[-1]


def split(running: list[Sequence]) -> tuple[list[Sequence], list[Sequence]]:
    """Those that decode and the others, each in order of admission."""
    decodes = [seq for seq in running if seq.is_decoding]
    if len(decodes) == len(running):
        return decodes, []
    return decodes, [seq for seq in running if not seq.is_decoding]
