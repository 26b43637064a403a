"""Runs side by side, for people."""

from __future__ import annotations

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from engine.metrics.report import Number
from tuiapp.counting import counted
from tuiapp.reports.profile import profile_table
from tuiapp.running.study import Entry, Study, fill_in
from tuiapp.running.verdicts import Ruling, Verdict
from tuiapp.text import clean
from tuiapp.view.way import tell_way

UNDEFINED = "–"
SPREAD_KINDS = ("ms", "rate", "joules")  # of counts and shares it would read as one of them
MARKS = {
    Ruling.HOLDS: ("✓", "green"),
    Ruling.FAILS: ("✗", "red"),
    Ruling.OPEN: ("·", "dim"),
}


def print_report(console: Console, study: Study, *, with_ratios: bool = False) -> None:
    """Print what ran, its numbers, and what became of the claims.

    Args:
        with_ratios: beside each number, how many times the first run's it is.
    """
    parts: list[RenderableType] = [_headline(study), _table(study, with_ratios=with_ratios)]
    if study.verdicts:
        parts.append(_claims(study))
    if study.judgement:
        parts.append(_judgement(study))
    parts += [
        profile_table(each.name, each.profile, is_simulated=each.info.is_simulated)
        for each in study.outcomes
        if each.profile
    ]
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


def format_ratio(ratio: float | None) -> str:
    """How many times the first run's number; empty where that cannot be said."""
    if ratio is None:
        return ""
    if 0 < ratio < 0.1:
        return f"×{ratio:.2g}"
    return f"×{ratio:.2f}" if ratio < 10 else f"×{ratio:,.0f}"


def format_spread(entry: Entry, kind: str) -> str:
    """By how much the runs differ; empty where they do not, or where it says nothing."""
    is_told = kind in SPREAD_KINDS and not entry.is_steady
    return f"~{entry.spread:.0%}" if is_told and entry.spread else ""


def tell_runs(study: Study) -> str:
    """That numbers are the middle ones of several runs; empty of one run each."""
    if study.num_runs == 1:
        return ""
    return f"medians of {study.num_runs} runs each, made in turn; ~ is by how much they differ"


def _headline(study: Study) -> Text:
    info = study.outcomes[0].info
    kind = "simulated, times come from a cost model" if info.is_simulated else info.precision
    text = Text(clean(study.title), style="bold")
    count = study.num_requests
    requests = counted(count, "request")
    text.append(f"\n{requests}, {info.model} on {info.device} ({kind})", "dim")
    for told in (tell_way(info), tell_runs(study)):
        if told:
            text.append(f"\n{told}", "dim")
    return text


def _table(study: Study, *, with_ratios: bool) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("")
    for outcome in study.outcomes:
        notes = ["simulated"] * outcome.info.is_simulated + ["broken off"] * outcome.is_interrupted
        table.add_column(Text("\n".join([clean(outcome.name), *notes])), justify="right")
    label = ""
    for row in fill_in(study):
        if row.label != label:
            label = row.label
            table.add_row(Text(clean(label), style="bold"))
        indent = "  " if label else ""
        first, *others = row.entries
        cells = [_cell(first, row.line.kind, with_ratio=False)]
        cells += [_cell(entry, row.line.kind, with_ratio=with_ratios) for entry in others]
        table.add_row(Text(indent + row.line.title), *cells)
    return table


def _cell(entry: Entry, kind: str, *, with_ratio: bool) -> Text:
    """A number; dimmed, with how many values it is of, where they are too few for it."""
    is_few = entry.few is not None and entry.value is not None
    text = Text(format_number(entry.value, kind), style="dim" if is_few else "")
    if spread := format_spread(entry, kind):
        text.append(f" {spread}", "dim")
    if is_few:
        text.append(f" (n={entry.few})")
    if with_ratio and kind != "count":
        text.append(f" {format_ratio(entry.ratio):>6}", "dim")
    return text


def _claims(study: Study) -> Group:
    title = "Claims" + (" (simulated)" if study.is_simulated else "")
    parts: list[RenderableType] = [Text(f"\n{title}", style="bold")]
    for verdict in study.verdicts:
        mark, style = MARKS[verdict.ruling]
        line = Text.assemble((f"{mark} ", style), clean(verdict.claim.text))
        parts += [line, Padding(Text(tell_evidence(verdict), style="dim"), (0, 0, 0, 2))]
    if any(verdict.ruling is Ruling.FAILS for verdict in study.verdicts) and study.needs:
        needs = ", ".join(study.needs)
        parts.append(Text(f"These are said of devices that are {needs}.", style="dim"))
    return Group(*parts)


def _judgement(study: Study) -> Group:
    title = "Verdict" + (" (simulated)" if study.is_simulated else "")
    words = Padding(Text(clean(study.judgement)), (0, 0, 0, 2))
    return Group(Text(f"\n{title}", style="bold"), words)


def tell_evidence(verdict: Verdict) -> str:
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
