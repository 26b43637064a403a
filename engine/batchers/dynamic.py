"""Dynamic batching: as static, but an incomplete batch starts after a short wait.

The policy of Triton Inference Server's dynamic batcher: a maximum batch size and a maximum
queue delay, counted from the oldest request. Batches still run to completion.
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
    """

    request_level: ClassVar[bool] = True
    max_batch_size: int = 8
    max_queue_delay_ms: float = 50.0

    def schedule(self, queues: Queues, now: float) -> Plan:
        if not queues.waiting:
            return run_batch(queues, self.max_batch_size, starts=False)
        oldest = min(seq.request.arrival for seq in queues.waiting)
        deadline = oldest + self.max_queue_delay_ms / 1000
        is_full = len(queues.waiting) >= self.max_batch_size
        starts = is_full or queues.is_flushing or now >= deadline
        plan = run_batch(queues, self.max_batch_size, starts=starts, deadline=deadline)
        return plan if plan.rows else replace(plan, wake_at=deadline)
