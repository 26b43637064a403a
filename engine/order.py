"""`Order`: who of the waiting comes first.

Ranks never change while a request waits, although requests age: what one gains on another by
waiting is the same at any time, namely its head start in arrival. So the queue is kept in order
and never sorted anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from engine.request import Request
from engine.settings import EngineSettings, SchedulingPolicy

Rank = tuple[float, bool, float, int]  # the smallest comes first


class Waiting(Protocol):
    """What a rank depends on.

    Attributes:
        number: counts requests in the order in which they came.
        is_delayed: it waited longer than its timeout, and lets others pass.
    """

    request: Request
    number: int
    is_delayed: bool


@dataclass(frozen=True, slots=True)
class Order:
    """A scheduling policy, with aging.

    Attributes:
        aging: what a second of waiting is worth: levels of priority, or tokens of a shorter job.
            Above 0, whoever comes later by more than the difference of two ranks divided by
            `aging` stands behind, so nobody waits for ever.
    """

    policy: SchedulingPolicy = SchedulingPolicy.FCFS
    aging: float = 0.0

    def rank(self, waiting: Waiting) -> Rank:
        """Level first, then the delayed behind the others, then size, then who came first."""
        request = waiting.request
        head_start = self.aging * request.arrival
        level = size = 0.0
        match self.policy:
            case SchedulingPolicy.PRIORITY:
                level = request.priority + head_start
            case SchedulingPolicy.SJF_PROMPT:
                size = len(request.prompt_token_ids) + head_start
            case SchedulingPolicy.SJF_MAX_TOKENS:
                size = request.sampling.max_tokens + head_start
            case SchedulingPolicy.FCFS:
                pass
        return level, waiting.is_delayed, size, waiting.number


def make_order(settings: EngineSettings) -> Order:
    """The order that the settings name."""
    return Order(settings.scheduling_policy, settings.aging)
