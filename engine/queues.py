"""The waiting and running queues, with the verbs that move a sequence between them."""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass, field

from engine.blocks import BlockPool
from engine.request import Sequence, Status


@dataclass(frozen=True, slots=True)
class Preemption:
    """A sequence lost its slot, and `num_lost` computed tokens with its blocks."""

    request_id: str
    slot: int
    num_lost: int


@dataclass(slots=True)
class Queues:
    """Every sequence the engine still holds, in exactly one of two queues.

    A sequence that finishes stays in `running`, with its slot and its blocks, until the
    batcher retires it: when a slot becomes free again is what tells one batching policy from
    another.

    Attributes:
        pool: where the blocks come from.
        waiting: arrived or preempted, first come first served.
        running: hold a slot and KV blocks, in order of admission.
        is_flushing: start the next batch without waiting for company, because nothing more
            will arrive or because the user said so.
    """

    pool: BlockPool
    waiting: deque[Sequence] = field(default_factory=deque)
    running: list[Sequence] = field(default_factory=list)
    is_flushing: bool = False
    _free_slots: list[int] = field(default_factory=list)
    _num_slots: int = 0
    _preemptions: list[Preemption] = field(default_factory=list)

    @property
    def num_slots(self) -> int:
        """Slots up to the highest that is held."""
        return 1 + max((seq.slot for seq in self.running if seq.slot is not None), default=-1)

    def admit(self) -> Sequence:
        """Move the first waiting sequence to the running queue, into the lowest free slot."""
        seq = self.waiting.popleft()
        seq.move_to(Status.RUNNING)
        if self._free_slots:
            seq.slot = heapq.heappop(self._free_slots)
        else:
            seq.slot, self._num_slots = self._num_slots, self._num_slots + 1
        self.running.append(seq)
        return seq

    def preempt(self, seq: Sequence) -> None:
        """Free the sequence's slot and blocks and put it first in line, to be recomputed."""
        assert seq.slot is not None, f"{seq.id} runs without a slot"
        self._preemptions.append(Preemption(seq.id, seq.slot, seq.num_computed))
        if seq is self.running[-1]:
            self.running.pop()
        else:
            self.running.remove(seq)
        self._give_back(seq)
        seq.num_computed = 0
        seq.num_preemptions += 1
        seq.move_to(Status.PREEMPTED)
        self.waiting.appendleft(seq)

    def retire_finished(self) -> None:
        """Free the slots and the blocks of the finished sequences."""
        finished = [seq for seq in self.running if seq.status is Status.FINISHED]
        if finished:
            self.running = [seq for seq in self.running if not seq.is_finished]
            for seq in finished:
                self._give_back(seq)

    def remove(self, seq: Sequence) -> None:
        """Take a sequence out of whichever queue holds it, with all that it holds."""
        if seq in self.running:
            self.running.remove(seq)
            self._give_back(seq)
        else:
            self.waiting.remove(seq)

    def take_preemptions(self) -> tuple[Preemption, ...]:
        """Who was preempted since the last call, in order."""
        preemptions = tuple(self._preemptions)
        self._preemptions.clear()
        return preemptions

    def _give_back(self, seq: Sequence) -> None:
        assert seq.slot is not None, f"{seq.id} runs without a slot"
        self.pool.release(seq)
        heapq.heappush(self._free_slots, seq.slot)
        seq.slot = None
