"""`Stage`: what a request's time was spent on; `Span`: when; `add_up`: how much of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Stage(Enum):
    """What the engine did for a request, or why it did nothing."""

    QUEUED = "queued"  # for a slot, for blocks, for room in a pass, or for the pass under way
    BATCH_WAIT = "batch wait"  # for company, or for the end of somebody else's batch
    PREFILL = "prefill"
    STALLED = "stalled"  # in a slot, but given no token
    EVICTED = "evicted"  # preempted: it waits to come back
    REDONE = "redone"  # computes again what it lost
    DECODE = "decode"
    HELD = "held"  # all is generated; its batch goes on


@dataclass(frozen=True, slots=True)
class Span:
    """A time of one stage.

    Attributes:
        start, end: seconds on the engine's clock.
        num_passes: forward passes in it, own or waited through.
        num_tokens: of the request that were computed in it.
    """

    stage: Stage
    start: float
    end: float
    num_passes: int = 0
    num_tokens: int = 0

    @property
    def seconds(self) -> float:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Part:
    """All that one stage took up to some moment."""

    stage: Stage
    seconds: float
    num_passes: int
    num_tokens: int


def add_up(spans: Iterable[Span], until: float = float("inf")) -> tuple[Part, ...]:
    """The stages in the order in which they began, with what each took in all.

    Args:
        until: seconds on the clock; what comes later is left out, so that up to the first
            delivery the parts are those of the time to first token.
    """
    parts: dict[Stage, Part] = {}
    for span in spans:
        seconds = min(span.end, until) - span.start
        if seconds <= 0:
            continue
        old = parts.get(span.stage, Part(span.stage, 0.0, 0, 0))
        parts[span.stage] = Part(
            stage=span.stage,
            seconds=old.seconds + seconds,
            num_passes=old.num_passes + span.num_passes,
            num_tokens=old.num_tokens + span.num_tokens,
        )
    return tuple(parts.values())
