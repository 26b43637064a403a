"""`Lesson`: the tables of a lesson file, as dataclasses that `engine.config` fills.

A lesson names no result. It names a metric, and what three ranges of it mean; which of them is
right is for the run to say, on the device that it runs on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf

from engine.checks import require
from engine.metrics import Report
from engine.metrics.report import PASS_METRICS, SERVICE_METRICS, Number

SCHEMA = 1
NUM_CHOICES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One of the predictions.

    Attributes:
        up_to: it is right for measured values up to here that no choice before it claims; None
            for the last one, which takes in all that is left.
        unlike: where such a value is not what the paragraph tells of: why that may be.
    """

    text: str
    up_to: float | None = None
    unlike: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """What the question asks for.

    Attributes:
        run: of which run.
        over: divided by the same of that run; empty to ask for the value itself.
        label: of the requests of one class only; empty for all.
    """

    metric: str
    run: str
    over: str = ""
    label: str = field(default="", metadata={"key": "class"})

    def __post_init__(self) -> None:
        _require_metric(self.metric, self.label)

    def value(self, reports: Mapping[str, Report]) -> Number:
        """What was measured; None where it is undefined."""
        value = reports[self.run].value(self.metric, self.label)
        if not self.over or value is None:
            return value
        other = reports[self.over].value(self.metric, self.label)
        return value / other if other else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A row of the table that the runs fill."""

    text: str
    metric: str
    label: str = field(default="", metadata={"key": "class"})

    def __post_init__(self) -> None:
        _require_metric(self.metric, self.label)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """One guided story.

    Attributes:
        id: the name of the file without its number and ending.
        preset: what is played: one of the lessons' own, or a shipped one.
        runs: variants of the preset, one after another.
        paragraph: what it means.
        source: where the story comes from.
    """

    schema: int
    id: str
    title: str
    preset: str
    runs: tuple[str, ...]
    question: str
    choices: tuple[Choice, ...] = field(metadata={"key": "choice"})
    measure: Measure
    figures: tuple[Figure, ...] = field(metadata={"key": "figure"})
    paragraph: str
    source: str

    def __post_init__(self) -> None:
        require(self.schema == SCHEMA, f"schema must be {SCHEMA}, got {self.schema}")
        count = len(self.choices)
        require(count == NUM_CHOICES, f"choice must be there {NUM_CHOICES} times, not {count}")
        limits = [inf if choice.up_to is None else choice.up_to for choice in self.choices]
        require(
            limits == sorted(set(limits)) and limits[-1] == inf,
            "choice needs limits that rise, and none for the last",
        )
        for run in (self.measure.run, self.measure.over or self.measure.run):
            require(run in self.runs, f"measure names {run!r}, which is none of the runs")

    def right_choice(self, value: float) -> int:
        """Which prediction a measured value proves right."""
        limits = [inf if choice.up_to is None else choice.up_to for choice in self.choices]
        return next(index for index, limit in enumerate(limits) if value <= limit)


def _require_metric(metric: str, label: str) -> None:
    known = SERVICE_METRICS if label else (*SERVICE_METRICS, *PASS_METRICS)
    require(metric in known, f"metric is unknown: {metric!r}")
