"""Whether the runs of a preset showed what it claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from engine.metrics.report import Number
from tuiapp.presets import Claim
from tuiapp.running.outcome import Outcome


class Ruling(Enum):
    """What became of a claim."""

    HOLDS = "holds"
    FAILS = "fails"
    OPEN = "not judged"  # a run that it needs was not made, or has no such number


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim with what was measured.

    Attributes:
        measured: the left side.
        limit: what it is compared with, `factor` included.
    """

    claim: Claim
    ruling: Ruling
    measured: Number = None
    limit: Number = None


class Measured(Protocol):
    """The numbers of a run, wherever they are kept."""

    def value(self, metric: str, label: str = "") -> Number:
        """A metric by name, of all requests or of one label; None where it is undefined."""
        ...


def judge(claims: Sequence[Claim], outcomes: Sequence[Outcome]) -> tuple[Verdict, ...]:
    """Hold every claim against the runs; one that was broken off proves nothing."""
    told = {each.variant: each for each in outcomes if each.is_over}
    return judge_by(claims, told)


def judge_by(claims: Sequence[Claim], by_variant: Mapping[str, Measured]) -> tuple[Verdict, ...]:
    """Hold every claim against the numbers of whole runs, by variant."""
    return tuple(_judge(claim, by_variant) for claim in claims)


def _judge(claim: Claim, by_variant: Mapping[str, Measured]) -> Verdict:
    measured = _measure(by_variant.get(claim.left), claim.metric, claim.label)
    limit: Number = claim.value
    if claim.right:
        label = claim.right_label or claim.label
        other = _measure(by_variant.get(claim.right), claim.metric, label)
        limit = None if other is None else other * claim.factor
    if measured is None or limit is None:
        return Verdict(claim, Ruling.OPEN, measured, limit)
    ruling = Ruling.HOLDS if claim.op.holds(measured, limit) else Ruling.FAILS
    return Verdict(claim, ruling, measured, limit)


def _measure(run: Measured | None, metric: str, label: str) -> Number:
    return run.value(metric, label) if run else None
