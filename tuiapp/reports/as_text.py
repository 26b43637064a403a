"""Runs side by side, for other programs to read: CSV, and Markdown for a document."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from io import StringIO

from engine.metrics.report import PASS_METRICS, SERVICE_METRICS
from tuiapp.counting import counted
from tuiapp.reports.as_table import (
    format_number,
    format_ratio,
    format_spread,
    tell_evidence,
    tell_runs,
)
from tuiapp.running.study import Entry, Study, fill_in, ratio
from tuiapp.running.verdicts import Ruling
from tuiapp.text import one_line
from tuiapp.view.way import tell_way

RUNS = ("runs", "least", "most")  # how many have the number, and between what it lies
MARKS = {Ruling.HOLDS: "✓", Ruling.FAILS: "✗", Ruling.OPEN: "·"}


def to_csv(study: Study) -> str:
    """One line a number, all metrics of all runs; what is undefined is an empty field."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("preset", "variant", "simulated", "class", "metric", "value", "ratio", *RUNS))
    for label in ("", *study.labels):
        metrics = SERVICE_METRICS if label else (*SERVICE_METRICS, *PASS_METRICS)
        for outcome in study.outcomes:
            head = (study.name, outcome.name, str(outcome.info.is_simulated).lower(), label)
            for metric in metrics:
                value = outcome.value(metric, label)
                first = study.outcomes[0].value(metric, label)
                found = outcome.values(metric, label)
                runs = (len(found), min(found, default=None), max(found, default=None))
                writer.writerow((*head, metric, value, ratio(value, first), *runs))
    return text.getvalue()


def to_markdown(study: Study) -> str:
    """A heading, the table of the terminal, and the claims."""
    info = study.outcomes[0].info
    kind = "simulated, times come from a cost model" if info.is_simulated else info.precision
    requests = counted(study.num_requests, "request")
    what = f"{requests}, {info.model} on {info.device} ({kind})"
    what = ", ".join(filter(None, (what, tell_way(info), tell_runs(study))))
    lines = [f"### {_escape(study.title)}", "", _escape(what), ""]
    lines += _table(study)
    if study.verdicts:
        lines += ["", "Claims:" if not study.is_simulated else "Claims (simulated):", ""]
    for verdict in study.verdicts:
        evidence = _escape(tell_evidence(verdict))
        lines.append(f"- {MARKS[verdict.ruling]} {_escape(verdict.claim.text)} ({evidence})")
    if study.judgement:
        title = "Verdict (simulated)" if study.is_simulated else "Verdict"
        lines += ["", f"{title}: {_escape(study.judgement)}"]
    return "\n".join(lines) + "\n"


def _table(study: Study) -> list[str]:
    names = [_escape(outcome.name) for outcome in study.outcomes]
    lines = [_line(["", *names]), _line(["---", *("---:" for _ in names)])]
    label = ""
    for row in fill_in(study):
        if row.label != label:
            label = row.label
            lines.append(_line([f"**{_escape(label)}**", *("" for _ in names)]))
        cells = [
            _cell(entry, row.line.kind, is_first=not at) for at, entry in enumerate(row.entries)
        ]
        lines.append(_line([row.line.title, *cells]))
    return lines


def _cell(entry: Entry, kind: str, *, is_first: bool) -> str:
    number = format_number(entry.value, kind)
    number = f"{number} {format_spread(entry, kind)}".strip()
    if entry.few is not None and entry.value is not None:
        number = f"*{number} (n={entry.few})*"
    times = "" if is_first or kind == "count" else format_ratio(entry.ratio)
    return f"{number} {times}".strip()


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escape(text: str) -> str:
    """Text on one line, with nothing that Markdown or HTML would take for its own."""
    plain = one_line(text).replace("\\", "\\\\")
    for sign in "|*_`[]<>#":
        plain = plain.replace(sign, f"\\{sign}")
    return plain
