"""The waiting and running queues, with the verbs that move a sequence between them."""

from __future__ import annotations

import heapq
from bisect import insort
from collections import deque
from dataclasses import dataclass, field

from engine.blocks import BlockPool
from engine.order import Order
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
        order: who of the waiting comes first.
        waiting: arrived or preempted, in that order.
        running: hold a slot and KV blocks, in order of admission.
        is_flushing: start the next batch without waiting for company, because nothing more
            will arrive or because the user said so.
        num_since_admission: passes since a sequence was admitted last.
    """

    pool: BlockPool
    order: Order = field(default_factory=Order)
    waiting: deque[Sequence] = field(default_factory=deque)
    running: list[Sequence] = field(default_factory=list)
    is_flushing: bool = False
    num_since_admission: int = 0
    _num_came: int = 0
    _free_slots: list[int] = field(default_factory=list)
    _num_slots: int = 0
    _preemptions: list[Preemption] = field(default_factory=list)

    @property
    def num_slots(self) -> int:
        """Slots up to the highest that is held."""
        return 1 + max((seq.slot for seq in self.running if seq.slot is not None), default=-1)

    def live(self) -> list[Sequence]:
        """Those that have not finished, by admission and then as they stand in line."""
        return [seq for seq in (*self.running, *self.waiting) if not seq.is_finished]

    def enqueue(self, seq: Sequence) -> None:
        """Let a sequence that has just come wait for its turn."""
        seq.number = self._num_came
        self._num_came += 1
        self._insert(seq)

    def admit(self, seq: Sequence | None = None) -> Sequence:
        """Move a waiting sequence, if none is named the first, into the lowest free slot."""
        if seq is None or seq is self.waiting[0]:
            seq = self.waiting.popleft()
        else:
            self.waiting.remove(seq)
        seq.move_to(Status.RUNNING)
        if self._free_slots:
            seq.slot = heapq.heappop(self._free_slots)
        else:
            seq.slot, self._num_slots = self._num_slots, self._num_slots + 1
        seq.delayed_at = None
        self.running.append(seq)
        self.num_since_admission = 0
        return seq

    def reorder(self, order: Order) -> None:
        """Let those who wait stand in another order from now on."""
        self.order = order
        self.waiting = deque(sorted(self.waiting, key=order.rank))

    def delay(self, seq: Sequence, at: float) -> None:
        """Let others pass a waiting sequence, since `at` on the engine's clock."""
        self.waiting.remove(seq)
        seq.delayed_at = at
        self._insert(seq)

    def preempt(self, seq: Sequence) -> None:
        """Free the sequence's slot and blocks and put it back in line, to be recomputed."""
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
        self._insert(seq)

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

    def _insert(self, seq: Sequence) -> None:
        """Put a sequence where it stands in line; nearly always that is one of the ends."""
        rank, waiting = self.order.rank, self.waiting
        if not waiting or rank(seq) < rank(waiting[0]):
            waiting.appendleft(seq)
        elif rank(seq) > rank(waiting[-1]):
            waiting.append(seq)
        else:
            insort(waiting, seq, key=rank)

    def _give_back(self, seq: Sequence) -> None:
        assert seq.slot is not None, f"{seq.id} runs without a slot"
        self.pool.release(seq)
        heapq.heappush(self._free_slots, seq.slot)
        seq.slot = None
