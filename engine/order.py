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
        delayed_at: when it had waited as long as its timeout, in seconds on the engine's clock;
            it lets others pass since. None for who did not.
    """

    request: Request
    number: int
    delayed_at: float | None


@dataclass(frozen=True, slots=True)
class Order:
    """A scheduling policy, with aging.

    Attributes:
        aging: what a second of waiting is worth: levels of priority, or tokens of a shorter job.
            Above 0, whoever comes later by more than the difference of two ranks divided by
            `aging` stands behind, so nobody waits for ever. Nor do the delayed: they stand as if
            they had come when they were delayed. At 0 they are behind all others of their level.
    """

    policy: SchedulingPolicy = SchedulingPolicy.FCFS
    aging: float = 0.0

    def rank(self, waiting: Waiting) -> Rank:
        """Level first, then who is behind the others, then size, then who came first."""
        request = waiting.request
        since = request.arrival if waiting.delayed_at is None else waiting.delayed_at
        is_behind = waiting.delayed_at is not None and not self.aging
        head_start = self.aging * since
        level = size = 0.0
        match self.policy:
            case SchedulingPolicy.PRIORITY:
                level = request.priority + head_start
            case SchedulingPolicy.SJF_PROMPT:
                size = len(request.prompt_token_ids) + head_start
            case SchedulingPolicy.SJF_MAX_TOKENS:
                size = request.sampling.max_tokens + head_start
            case SchedulingPolicy.FCFS:
                size = head_start
        return level, is_behind, size, waiting.number


def make_order(settings: EngineSettings) -> Order:
    """The order that the settings name."""
    return Order(settings.scheduling_policy, settings.aging)
