"""Runs side by side, for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from engine.metrics.report import Number
from tuiapp.headless import Outcome
from tuiapp.presets import Preset
from tuiapp.text import clean
from tuiapp.verdicts import Ruling, Verdict

UNDEFINED = "–"
MARKS = {
    Ruling.HOLDS: ("✓", "green"),
    Ruling.FAILS: ("✗", "red"),
    Ruling.OPEN: ("·", "dim"),
}


@dataclass(frozen=True, slots=True)
class Line:
    """A metric in the table.

    Attributes:
        kind: `count`, `ms`, `rate` or `share`.
        is_rare: left out where it is zero or undefined in every run.
    """

    metric: str
    title: str
    kind: str = "ms"
    is_rare: bool = False


RUN_LINES = (
    Line("num_completed", "requests completed", "count"),
    Line("num_rejected", "requests rejected", "count", is_rare=True),
    Line("num_failed", "requests failed", "count", is_rare=True),
    Line("out_tps", "output tokens/s", "rate"),
    Line("rps", "requests/s", "rate"),
    Line("ttft_p50_ms", "TTFT p50, ms"),
    Line("ttft_p99_ms", "TTFT p99, ms"),
    Line("tpot_p50_ms", "TPOT p50, ms"),
    Line("itl_p50_ms", "ITL p50, ms"),
    Line("itl_p99_ms", "ITL p99, ms"),
    Line("itl_max_ms", "ITL max, ms"),
    Line("e2e_p50_ms", "E2EL p50, ms"),
    Line("e2e_p99_ms", "E2EL p99, ms"),
    Line("norm_latency_ms", "latency/token, ms"),
    Line("attainment", "SLO attainment", "share", is_rare=True),
    Line("goodput_rps", "goodput, requests/s", "rate", is_rare=True),
    Line("occupancy", "slots at work", "share"),
    Line("held_share", "slots held idle", "share", is_rare=True),
    Line("padding_share", "padding", "share", is_rare=True),
    Line("mean_batch", "requests a batch", "rate"),
    Line("busy_share", "device busy", "share"),
    Line("busy_ms_per_req", "busy a request, ms"),
    Line("peak_running", "peak running", "count"),
    Line("kv_peak", "KV cache, peak", "share"),
    Line("preemptions", "preemptions", "count", is_rare=True),
    Line("recomputed_tokens", "tokens recomputed", "count", is_rare=True),
)
LABEL_LINES = (
    Line("ttft_p50_ms", "TTFT p50, ms"),
    Line("itl_max_ms", "ITL max, ms"),
    Line("e2e_p50_ms", "E2EL p50, ms"),
)


def print_report(
    console: Console, preset: Preset, outcomes: Sequence[Outcome], verdicts: Sequence[Verdict]
) -> None:
    """Print what ran, its numbers, and what became of the claims."""
    parts: list[RenderableType] = [_headline(preset, outcomes[0]), _table(preset, outcomes)]
    if verdicts:
        parts.append(_claims(preset, verdicts, is_simulated=outcomes[0].info.is_simulated))
    console.print(Group(*parts))


def format_number(value: Number, kind: str) -> str:
    """A number as people read it; what is undefined gets a dash."""
    if value is None:
        return UNDEFINED
    if kind == "share":
        return f"{value:.0%}"
    if kind == "count":
        return f"{value:,}"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _headline(preset: Preset, outcome: Outcome) -> Text:
    info = outcome.info
    kind = "simulated, times come from a cost model" if info.is_simulated else info.dtype
    text = Text(clean(preset.about.title), style="bold")
    count = len(preset.drafts)
    requests = "1 request" if count == 1 else f"{count} requests"
    text.append(f"\n{requests}, {info.model} on {info.device} ({kind})", "dim")
    return text


def _table(preset: Preset, outcomes: Sequence[Outcome]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("")
    for outcome in outcomes:
        name = clean(outcome.variant or outcome.settings.batcher.value)
        notes = ["simulated"] * outcome.info.is_simulated + ["broken off"] * outcome.is_interrupted
        table.add_column(Text("\n".join([name, *notes])), justify="right")
    _add_lines(table, RUN_LINES, outcomes, "")
    if len(preset.labels) > 1:
        for label in preset.labels:
            table.add_row(Text(clean(label), style="bold"))
            _add_lines(table, LABEL_LINES, outcomes, label)
    return table


def _add_lines(
    table: Table, lines: Sequence[Line], outcomes: Sequence[Outcome], label: str
) -> None:
    indent = "  " if label else ""
    for line in lines:
        values = [outcome.report.value(line.metric, label) for outcome in outcomes]
        if any(values) or not line.is_rare:
            cells = (Text(format_number(value, line.kind)) for value in values)
            table.add_row(Text(indent + line.title), *cells)


def _claims(preset: Preset, verdicts: Sequence[Verdict], *, is_simulated: bool) -> Group:
    title = "Claims" + (" (simulated)" if is_simulated else "")
    parts: list[RenderableType] = [Text(f"\n{title}", style="bold")]
    for verdict in verdicts:
        mark, style = MARKS[verdict.ruling]
        line = Text.assemble((f"{mark} ", style), clean(verdict.claim.text))
        parts += [line, Padding(Text(_evidence(verdict), style="dim"), (0, 0, 0, 2))]
    if any(verdict.ruling is Ruling.FAILS for verdict in verdicts) and preset.about.needs:
        needs = ", ".join(need.value.replace("_", " ") for need in preset.about.needs)
        parts.append(Text(f"These are said of devices that are {needs}.", style="dim"))
    return Group(*parts)


def _evidence(verdict: Verdict) -> str:
    """The numbers, with how they were to compare."""
    claim = verdict.claim
    left = f"{claim.metric} {_of(claim.left, claim.label)}"
    right = _of(claim.right, claim.right_label or claim.label) if claim.right else ""
    factor = f"{claim.factor:g} × " if claim.factor != 1 and claim.right else ""
    limit = f"{factor}{right} = {_plain(verdict.limit)}" if right else _plain(verdict.limit)
    return clean(
        f"{verdict.ruling.value}: {left} = {_plain(verdict.measured)} {claim.op.value} {limit}"
    )


def _of(variant: str, label: str) -> str:
    return f"{variant}/{label}" if label else variant


def _plain(value: Number) -> str:
    return UNDEFINED if value is None else f"{value:,.4g}" if value < 1000 else f"{value:,.0f}"
