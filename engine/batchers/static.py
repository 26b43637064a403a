"""Static batching: wait for a full batch, then run it until its last sequence is done.

What `model.generate` does with a list of prompts. Short prompts are padded to the longest
one, and a sequence that finishes early leaves a dead row behind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from engine.batchers.request_level import run_batch
from engine.plan import Plan
from engine.queues import Queues
from engine.settings import Start


@dataclass(frozen=True, slots=True)
class Static:
    """Start when the batch is full or flushed or, if `start` is `idle`, with what is there.

    Attributes:
        max_batch_size: sequences a batch, at least 1.
        start: whether a batch waits for company.
    """

    request_level: ClassVar[bool] = True
    max_batch_size: int = 8
    start: Start = Start.FULL

    def schedule(self, queues: Queues, now: float) -> Plan:
        is_full = len(queues.waiting) >= self.max_batch_size
        starts = is_full or queues.is_flushing or self.start is Start.IDLE
        return run_batch(queues, self.max_batch_size, starts=starts)
