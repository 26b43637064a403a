"""`Study`: the same requests under several engines, and what came of it. Every report takes one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.metrics.report import Number
from tuiapp.presets import Preset
from tuiapp.running.gates import Finding
from tuiapp.running.outcome import Outcome
from tuiapp.running.verdicts import Verdict

STEADY = 0.005  # of a number; runs that differ by less do not differ in what is printed
FEW = 100  # values; below, a 99th percentile says little more than the largest one does


@dataclass(frozen=True, slots=True)
class Study:
    """Runs side by side.

    Attributes:
        name: of the preset, or of the recording.
        labels: of the requests, in the order in which to show them.
        needs: what a device has to be like for the claims about time.
        outcomes: at least one; numbers are compared with the first.
        is_broken_off: the user ended it before all runs were made.
        judgement: who wins, if that was asked for.
    """

    name: str
    title: str
    num_requests: int
    labels: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    seed: int | None = None
    pace: float = 1.0
    verdicts: tuple[Verdict, ...] = ()
    needs: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    is_broken_off: bool = False
    judgement: str = ""

    @property
    def is_simulated(self) -> bool:
        """Whether any of the times come from a cost model."""
        return any(outcome.info.is_simulated for outcome in self.outcomes)

    @property
    def is_interrupted(self) -> bool:
        """Whether the user broke off a run, or runs were left to make."""
        return self.is_broken_off or any(outcome.is_interrupted for outcome in self.outcomes)

    @property
    def num_runs(self) -> int:
        """How often every engine ran to its end, at least."""
        return min(outcome.num_runs for outcome in self.outcomes)


@dataclass(frozen=True, slots=True)
class Line:
    """A metric in a table.

    Attributes:
        kind: `count`, `ms`, `rate`, `share` or `joules`.
        is_rare: left out where it is zero or undefined in every run.
        count: the metric that says of how many values a percentile is.
    """

    metric: str
    title: str
    kind: str = "ms"
    is_rare: bool = False
    count: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A number of one run.

    Attributes:
        ratio: to that of the first run; None where there is none.
        few: of how many values it is, where they are too few for this percentile.
        spread: the share by which the largest of the runs exceeds the smallest; None of one run.
    """

    value: Number
    ratio: float | None = None
    few: int | None = None
    spread: float | None = None

    @property
    def is_steady(self) -> bool:
        """Whether no difference between the runs is worth a word."""
        return self.spread is None or self.spread < STEADY


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table, filled in; `label` is empty where all requests count."""

    line: Line
    label: str
    entries: tuple[Entry, ...]


RUN_LINES = (
    Line("num_completed", "requests completed", "count"),
    Line("num_aborted", "requests cancelled", "count", is_rare=True),
    Line("num_rejected", "requests rejected", "count", is_rare=True),
    Line("num_failed", "requests failed", "count", is_rare=True),
    Line("out_tps", "output tokens/s", "rate"),
    Line("rps", "requests/s", "rate"),
    Line("ttft_p50_ms", "TTFT p50, ms"),
    Line("ttft_p95_ms", "TTFT p95, ms"),
    Line("ttft_p99_ms", "TTFT p99, ms", count="ttft_n"),
    Line("tpot_p50_ms", "TPOT p50, ms"),
    Line("tpot_p99_ms", "TPOT p99, ms", count="tpot_n"),
    Line("itl_p50_ms", "ITL p50, ms"),
    Line("itl_p99_ms", "ITL p99, ms", count="itl_n"),
    Line("itl_max_ms", "ITL max, ms"),
    Line("e2e_p50_ms", "E2EL p50, ms"),
    Line("e2e_p99_ms", "E2EL p99, ms", count="e2e_n"),
    Line("norm_latency_ms", "latency/token, ms"),
    Line("attainment", "SLO attainment", "share", is_rare=True),
    Line("goodput_rps", "goodput, requests/s", "rate", is_rare=True),
    Line("occupancy", "slots at work", "share"),
    Line("held_share", "slots held idle", "share", is_rare=True),
    Line("padding_share", "padding", "share", is_rare=True),
    Line("useful_share", "useful tokens", "share"),
    Line("mean_batch", "requests a batch", "rate"),
    Line("busy_share", "device busy", "share"),
    Line("busy_ms_per_req", "busy a request, ms"),
    Line("energy_j_per_token", "energy a token, J", "rate", is_rare=True),
    Line("peak_running", "peak running", "count"),
    Line("kv_peak", "KV cache, peak", "share"),
    Line("prefix_hit_rate", "prompt tokens cached", "share", is_rare=True),
    Line("preemptions", "preemptions", "count", is_rare=True),
    Line("recomputed_tokens", "tokens recomputed", "count", is_rare=True),
)
LABEL_LINES = (
    Line("ttft_p50_ms", "TTFT p50, ms"),
    Line("itl_max_ms", "ITL max, ms"),
    Line("e2e_p50_ms", "E2EL p50, ms"),
)


def study_preset(
    preset: Preset,
    outcomes: Sequence[Outcome],
    verdicts: Sequence[Verdict],
    findings: Sequence[Finding] = (),
    seed: int | None = None,
    pace: float = 1.0,
) -> Study:
    """What runs of a preset came to."""
    return Study(
        name=preset.name,
        title=preset.about.title,
        num_requests=len(preset.drafts),
        labels=preset.labels,
        outcomes=tuple(outcomes),
        seed=preset.about.seed if seed is None else seed,
        pace=pace,
        verdicts=tuple(verdicts),
        needs=tuple(need.value.replace("_", " ") for need in preset.about.needs),
        findings=tuple(findings),
    )


def fill_in(study: Study) -> list[Row]:
    """The rows of a table: of all requests, then of each label where there are several."""
    rows = _fill_in(study, RUN_LINES, "")
    if len(study.labels) > 1:
        for label in study.labels:
            rows += _fill_in(study, LABEL_LINES, label)
    return rows


def ratio(value: Number, first: Number) -> float | None:
    """How many times the first one, where that can be said."""
    return value / first if value is not None and first else None


def spread_of(values: Sequence[float]) -> float | None:
    """By which share the largest exceeds the smallest; None of one, or of nothing."""
    return max(values) / min(values) - 1 if len(values) > 1 and min(values) > 0 else None


def _fill_in(study: Study, lines: Sequence[Line], label: str) -> list[Row]:
    rows = []
    for line in lines:
        entries = _entries(study, line, label)
        if not line.is_rare or any(entry.value for entry in entries):
            rows.append(Row(line, label, entries))
    return rows


def _entries(study: Study, line: Line, label: str) -> tuple[Entry, ...]:
    values = [outcome.value(line.metric, label) for outcome in study.outcomes]
    counts = [
        outcome.value(line.count, label) if line.count else None for outcome in study.outcomes
    ]
    return tuple(
        Entry(
            value,
            ratio(value, values[0]),
            int(count) if count and count < FEW else None,
            spread_of(outcome.values(line.metric, label)),
        )
        for outcome, value, count in zip(study.outcomes, values, counts, strict=True)
    )
