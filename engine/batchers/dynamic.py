"""Dynamic batching: as static, but an incomplete batch starts after a short wait.

The policy of Triton Inference Server's dynamic batcher: a maximum batch size, preferred sizes, and
a maximum queue delay, counted from the oldest request. Batches still run to completion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from engine.batchers.request_level import run_batch
from engine.plan import Plan
from engine.queues import Queues


@dataclass(frozen=True, slots=True)
class Dynamic:
    """Start when the batch is full or its oldest request has waited long enough.

    Attributes:
        max_batch_size: sequences a batch, at least 1.
        max_queue_delay_ms: the oldest request waits for company so long at most.
        preferred_batch_size: a batch starts at once with the largest of these that can be formed.
    """

    request_level: ClassVar[bool] = True
    max_batch_size: int = 8
    max_queue_delay_ms: float = 50.0
    preferred_batch_size: tuple[int, ...] = ()

    def schedule(self, queues: Queues, now: float) -> Plan:
        if not queues.waiting:
            return run_batch(queues, self.max_batch_size, starts=False)
        deadline = min(seq.request.arrival for seq in queues.waiting) + self._delay
        size = self._size(len(queues.waiting))
        starts = size is not None or queues.is_flushing or now >= deadline
        plan = run_batch(queues, size or self.max_batch_size, starts=starts, deadline=deadline)
        return plan if plan.rows else replace(plan, wake_at=deadline)

    @property
    def _delay(self) -> float:
        return self.max_queue_delay_ms / 1000

    def _size(self, num_waiting: int) -> int | None:
        """Of the batch that so many can form at once; None if they are to wait for company."""
        preferred = [size for size in self.preferred_batch_size if size <= num_waiting]
        if preferred:
            return max(preferred)
        return self.max_batch_size if num_waiting >= self.max_batch_size else None
