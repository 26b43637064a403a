"""Phases of a workload in which requests come faster or slower, by a change of its clock.

A process of arrivals runs on a clock of its own that goes `rate_factor` times as fast in a
phase: time change of a point process (Brémaud 1981, II.6), which keeps the shape of its gaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

from engine.checks import require, require_natural


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A stretch of time with a rate of its own; it may only be there for its label.

    Attributes:
        from_s, to_s: where it begins and ends.
        rate_factor: what rates are multiplied by; or
        rate_from, rate_to: by what at its beginning and at its end, in a straight line.
        label: what is said when it begins.
    """

    from_s: float
    to_s: float
    rate_factor: float | None = None
    rate_from: float | None = None
    rate_to: float | None = None
    label: str = ""

    def __post_init__(self) -> None:
        require_natural(
            from_s=self.from_s,
            rate_factor=self.rate_factor or 0.0,
            rate_from=self.rate_from or 0.0,
            rate_to=self.rate_to or 0.0,
        )
        require(self.to_s > self.from_s, f"to_s must be above from_s, got {self.to_s}")
        is_pair = (self.rate_from is None) == (self.rate_to is None)
        require(is_pair, "rate_from and rate_to are needed together")
        is_clear = self.rate_factor is None or self.rate_from is None
        require(is_clear, "rate_factor and rate_from cannot be together")

    @property
    def factors(self) -> tuple[float, float]:
        """What rates are multiplied by at its beginning and at its end."""
        if self.rate_from is not None and self.rate_to is not None:
            return self.rate_from, self.rate_to
        factor = 1.0 if self.rate_factor is None else self.rate_factor
        return factor, factor


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time in which the clock of arrivals goes at a speed, or from one to another.

    Attributes:
        seconds: its length; infinite for the last one.
        first, last: the speed at its beginning and at its end.
    """

    seconds: float
    first: float = 1.0
    last: float = 1.0

    @property
    def total(self) -> float:
        return self.seconds * (self.first + self.last) / 2

    def passed(self, seconds: float) -> float:
        """How far the clock of arrivals gets in the first seconds."""
        return self.first * seconds + self._slope * seconds**2 / 2

    def needed(self, passed: float) -> float:
        """Seconds in which the clock of arrivals gets so far, at most `total`."""
        if not passed:
            return 0.0
        root = sqrt(max(0.0, self.first**2 + 2 * self._slope * passed))
        return 2 * passed / (self.first + root)

    @property
    def _slope(self) -> float:
        return 0.0 if self.seconds == inf else (self.last - self.first) / self.seconds


class Tempo:
    """The clock of arrivals against that of the workload.

    Args:
        phases: in any order; they must not overlap.

    Raises:
        ValueError: they do.
    """

    def __init__(self, phases: Sequence[Phase] = ()) -> None:
        self._stretches: list[Stretch] = []
        end = 0.0
        for phase in sorted(phases, key=lambda phase: phase.from_s):
            require(phase.from_s >= end, f"phases overlap at {phase.from_s} s")
            if phase.from_s > end:
                self._stretches.append(Stretch(phase.from_s - end))
            self._stretches.append(Stretch(phase.to_s - phase.from_s, *phase.factors))
            end = phase.to_s
        self._stretches.append(Stretch(inf))

    @property
    def is_even(self) -> bool:
        """Whether the clocks are the same."""
        return all(each.first == each.last == 1.0 for each in self._stretches)

    def passed(self, moment: float) -> float:
        """What the clock of arrivals shows at a moment of the workload."""
        passed = 0.0
        for stretch in self._stretches:
            if moment <= stretch.seconds:
                return passed + stretch.passed(moment)
            passed, moment = passed + stretch.total, moment - stretch.seconds
        raise AssertionError("the last stretch has no end")

    def moment(self, passed: float) -> float:
        """When the clock of arrivals shows that; the first such moment."""
        moment = 0.0
        for stretch in self._stretches:
            if passed <= stretch.total:
                return moment + stretch.needed(passed)
            passed, moment = passed - stretch.total, moment + stretch.seconds
        raise AssertionError("the last stretch has no end")
