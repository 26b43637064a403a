"""`HostTime`: from the begin of one pass to the begin of the next, where did the time go?

Every microsecond of such a cycle is in exactly one phase. Idleness is in none: a cycle counts only
where the engine had work left when its pass ended. With async scheduling a pass is scheduled and
launched in the cycle before its own, whose place in the sum its own take.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from operator import itemgetter

from engine.events import Event, Split, Step, Work
from engine.metrics.spread import Spread

OTHER = "other"
PHASES = (
    "schedule",
    "prepare",
    "launch",
    "sample",
    "wait",
    "detokenise",
    "apply",
    "log",
    OTHER,
)  # in the order of a pass
Cycle = tuple[float, ...]  # seconds, one for each phase


@dataclass(frozen=True, slots=True)
class PhaseTime:
    """One phase over many cycles.

    Attributes:
        spread: seconds a cycle.
        share: of all the time of the cycles.
    """

    name: str
    spread: Spread
    share: float


@dataclass(frozen=True, slots=True)
class HostReport:
    """All phases, in the order of a pass.

    Attributes:
        cycle: seconds from begin to begin.
    """

    cycle: Spread
    phases: tuple[PhaseTime, ...]


class HostTime:
    """A fold over the steps of a log.

    Args:
        window: forget all but so many cycles; None keeps all.
    """

    def __init__(self, window: int | None = None) -> None:
        self.cycles: deque[Cycle] = deque(maxlen=window)
        self._last: Step | None = None  # whose cycle is still open

    def feed(self, events: Iterable[Event]) -> None:
        """Read on."""
        for event in events:
            if isinstance(event, Step) and event.rows:
                if self._last:
                    self.cycles.append(_close(self._last, event))
                self._last = event if _has_work_left(event) else None

    def skip(self) -> None:
        """Leave out the cycle under way, which something else held up."""
        self._last = None

    def report(self) -> HostReport | None:
        """Sum up; None before there is a whole cycle."""
        whole = Spread.of([sum(cycle) for cycle in self.cycles])
        if whole is None:
            return None
        phases = []
        for index, name in enumerate(PHASES):
            seconds = list(map(itemgetter(index), self.cycles))
            if spread := Spread.of(seconds):
                share = sum(seconds) / (whole.mean * whole.n) if whole.mean else 0.0
                phases.append(PhaseTime(name, spread, share))
        return HostReport(whole, tuple(phases))


def _close(step: Step, following: Step) -> Cycle:
    """The phases of a pass, once the next one has begun and told what writing it down took."""
    began, ended = step.time - step.duration, following.time - following.duration
    split, log = step.split, following.split.log
    known = (*_phases(split), log)
    return (*known, max(0.0, ended - began - sum(known)))


def _phases(split: Split) -> Cycle:
    return (
        split.schedule,
        split.prepare,
        split.launch,
        split.sample,
        split.wait,
        split.detokenise,
        split.apply,
    )


def _has_work_left(step: Step) -> bool:
    return any(not row.finished and row.work is not Work.HELD for row in step.rows)
