"""`write_page`: a study as one HTML page that needs nothing else, and asks nobody for anything."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from tuiapp.counting import counted
from tuiapp.export.curves import draw_curves, draw_names
from tuiapp.export.markup import tag, text
from tuiapp.export.sketch import Sketch
from tuiapp.export.timeline import draw_legend, draw_timeline, span_of
from tuiapp.reports.as_table import (
    format_number,
    format_ratio,
    format_spread,
    tell_evidence,
    tell_runs,
)
from tuiapp.running.study import Entry, Row, Study, fill_in
from tuiapp.running.verdicts import Ruling
from tuiapp.view.way import tell_way
from tuiapp.writing import write_file

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
MARKS = {Ruling.HOLDS: ("✓", "holds"), Ruling.FAILS: ("✗", "fails"), Ruling.OPEN: ("·", "open")}


def write_page(path: Path, study: Study | None, sketches: Sequence[Sketch]) -> None:
    """Write the page of a study; None while its runs are not over.

    Args:
        sketches: of its runs, in order.

    Raises:
        ConfigError: the file cannot be written.
    """
    write_file(path, make_page(study, sketches))


def make_page(study: Study | None, sketches: Sequence[Sketch]) -> str:
    """The page as text."""
    title = study.title if study else "batchscope"
    body = _body(study, sketches) if study else [tag("p", text("The runs are not over yet."))]
    head = (
        '<meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"{tag('title', text(title))}{tag('style', _style())}"
    )
    page = tag("html", tag("head", head), tag("body", tag("main", *body)), lang="en")
    return f"<!doctype html>\n{page}\n"


def _style() -> str:
    return (files("tuiapp") / "export" / "page.css").read_text("utf-8")


def _body(study: Study, sketches: Sequence[Sketch]) -> list[str]:
    return [
        tag("h1", text(study.title)),
        tag("p", text(_what(study)), class_="what"),
        *_timelines(study, sketches),
        *_latencies(study, sketches),
        tag("h2", text("Numbers")),
        _table(study),
        *_claims(study),
        tag("p", text("Made by batchscope."), class_="note"),
    ]


def _what(study: Study) -> str:
    info = study.outcomes[0].info
    kind = "simulated: times come from a cost model" if study.is_simulated else info.precision
    broken_off = ". Broken off: what was done until then" if study.is_interrupted else ""
    requests = counted(study.num_requests, "request")
    what = f"{requests}, {info.model} on {info.device} ({kind})"
    what = ", ".join(filter(None, (what, tell_way(info), tell_runs(study))))
    return f"{what}{broken_off}."


def _timelines(study: Study, sketches: Sequence[Sketch]) -> list[str]:
    drawn = [sketch for sketch in sketches if sketch.raster.slots]
    if not drawn:
        return []
    seconds = max(span_of(sketch.raster) for sketch in drawn)
    parts = [tag("h2", text("What each slot did")), draw_legend()]
    for outcome, sketch in zip(study.outcomes, sketches, strict=True):
        parts.append(tag("h3", text(outcome.name)))
        parts.append(draw_timeline(sketch.raster, seconds, outcome.name))
    return parts


def _latencies(study: Study, sketches: Sequence[Sketch]) -> list[str]:
    names = [outcome.name for outcome in study.outcomes]
    kinds = (
        ("Time to first token", [sketch.ttfts for sketch in sketches]),
        ("Gap between deliveries (ITL)", [sketch.gaps for sketch in sketches]),
        ("End to end latency", [sketch.e2es for sketch in sketches]),
    )
    figures = [draw_curves(title, dict(zip(names, values, strict=True))) for title, values in kinds]
    explained = text("The share of all values that lie at or below a latency; left is better.")
    heading = tag("h2", text("Latencies"))
    return [heading, tag("p", explained), draw_names(names), tag("div", *figures, class_="figures")]


def _table(study: Study) -> str:
    names = (tag("th", text(outcome.name), scope="col") for outcome in study.outcomes)
    rows, label = [tag("tr", tag("th"), *names)], ""
    for row in fill_in(study):
        if row.label != label:
            label = row.label
            span = len(study.outcomes) + 1
            rows.append(tag("tr", tag("th", text(label), colspan=span, class_="label-row")))
        rows.append(_row(row))
    return tag("table", *rows)


def _row(row: Row) -> str:
    cells = (
        _cell(entry, row.line.kind, is_first=not place) for place, entry in enumerate(row.entries)
    )
    return tag("tr", tag("th", text(row.line.title), scope="row"), *cells)


def _cell(entry: Entry, kind: str, *, is_first: bool) -> str:
    number = text(f"{format_number(entry.value, kind)} {format_spread(entry, kind)}".strip())
    if entry.few is not None and entry.value is not None:
        number = tag("span", number, " ", text(f"(n={entry.few})"), class_="few")
    times = "" if is_first or kind == "count" else format_ratio(entry.ratio)
    return tag("td", number, " ", tag("small", text(times)))


def _claims(study: Study) -> list[str]:
    if not study.verdicts:
        return []
    title = "Claims (simulated)" if study.is_simulated else "Claims"
    items = []
    for verdict in study.verdicts:
        mark, name = MARKS[verdict.ruling]
        evidence = tag("small", text(tell_evidence(verdict)))
        items.append(
            tag("li", tag("b", text(mark), class_=name), text(f" {verdict.claim.text} "), evidence)
        )
    return [tag("h2", text(title)), tag("ul", *items, class_="claims")]
