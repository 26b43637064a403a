"""The parts of a report, as content for the screen."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from engine.metrics import Slo, Spread
from tuiapp.counting import verb
from tuiapp.explain.gaps import explain_gap
from tuiapp.library.findings import Findings
from tuiapp.library.served import Served
from tuiapp.reports.as_table import format_number, tell_evidence
from tuiapp.running.study import RUN_LINES
from tuiapp.running.verdicts import Ruling, Verdict
from tuiapp.text import one_line
from tuiapp.widgets.histogram import is_logarithmic, latency_histogram

MARKS = {
    Ruling.HOLDS: ("✓", "bold $success"),
    Ruling.FAILS: ("✗", "bold $error"),
    Ruling.OPEN: ("·", "$muted"),
}
NAME, CELL, COUNT = 15, 9, 8
FIGURE = 11  # cells of a figure and of the gap behind it
AXIS = 22  # columns of what stands at the ends of a histogram
BESIDE = 100  # columns from which histograms stand beside the numbers
LATENCIES = ("ttft_", "tpot_", "itl_", "e2e_")


def draw_headline(findings: Findings) -> Content:
    """What happened, in a sentence or two; and whatever limits what can be said."""
    service, passes = findings.outcome.report.service, findings.outcome.report.passes
    title = Content.styled(one_line(findings.subject.title), "bold $primary")
    were = verb(service.num_completed, "was", "were")
    first = f"{service.num_completed} of {service.num_requests} requests {were} answered in full"
    rate = service.output_throughput
    first += f" in {findings.outcome.report.span:.2f} s"
    first += f": {format_number(rate, 'rate')} tokens a second." if rate else "."
    parts: list[tuple[str, str]] = [(first, "bold")]
    if passes.occupancy is not None:
        held = format_number(passes.held_share, "share")
        busy = format_number(passes.occupancy, "share")
        parts.append((f" Slots were at work {busy} of the time and held idle {held}.", ""))
    if service.ttft:
        half = format_number(service.ttft.p50 * 1000, "ms")
        parts.append((f" Half of the users saw a first token within {half} ms.", ""))
    limits = []
    if findings.outcome.info.is_simulated:
        limits.append("All times are simulated: they come from a cost model.")
    elif findings.subject.is_watched:
        limits.append("Measured with this screen on, which costs the engine a few per cent.")
    if not findings.subject.is_over:
        limits.append("It is not over: these are the numbers so far.")
    if not findings.subject.is_whole:
        limits.append("Its beginning is no longer in memory and left out.")
    lines = [title, Content.assemble(*parts)]
    lines += [Content.styled(limit, "$warning") for limit in limits]
    return Content("\n").join(lines)


def draw_latencies(findings: Findings, width: int) -> Content:
    """Percentiles and histograms."""
    service, sketch = findings.outcome.report.service, findings.sketch
    rows = (
        ("TTFT", service.ttft, sketch.ttfts),
        ("ITL", service.itl, sketch.gaps),
        ("TPOT", service.tpot, findings.tpots),
        ("E2EL", service.e2e, sketch.e2es),
    )
    names = "".join(f"{name:>{CELL}}" for name in ("p50", "p90", "p95", "p99", "max"))
    head = f"{'milliseconds':<{NAME}}{names}{'n':>{COUNT}}"
    is_beside = width >= BESIDE
    if is_beside:
        head += "   distribution, least to most"
    lines = [Content.styled(head, "$muted")]
    for name, spread, values in rows:
        numbers = _numbers(name, spread)
        if is_beside:
            room = width - NAME - 5 * CELL - COUNT - 3
            lines.append(Content.assemble(numbers, "   ", _bins(spread, values, room)))
        else:
            lines.append(numbers)
            if spread:
                lines.append(Content.assemble(" " * 4, _bins(spread, values, width - 4)))
    return Content("\n").join(lines)


def draw_facts(findings: Findings, width: int) -> Content:
    """Everything else that is a number, in columns."""
    report = findings.outcome.report
    facts = [
        (line.title, format_number(value, line.kind))
        for line in RUN_LINES
        if not line.metric.startswith(LATENCIES)
        and ((value := report.value(line.metric)) or not line.is_rare)
    ]
    num_columns = max(1, min(4, width // 29))
    cell = max(FIGURE, width // num_columns)
    lines = []
    for at in range(0, len(facts), num_columns):
        row = facts[at : at + num_columns]
        parts: list[tuple[str, str]] = []
        for name, figure in row:
            parts += [(f"{name:<{cell - FIGURE}}", "$muted"), (f"{figure:>8}   ", "bold")]
        lines.append(Content.assemble(*parts))
    return Content("\n").join(lines)


def draw_slo(findings: Findings) -> Content:
    """The objectives, and which share of the requests met them."""
    slo, service = findings.subject.slo, findings.outcome.report.service
    if not slo.is_set:
        return Content.styled("no objectives are set, so there is no goodput", "$muted")
    return Content.assemble(
        ("objectives ", "$muted"),
        _objectives(slo),
        (f"   met by {format_number(service.attainment, 'share')}", "bold"),
        (f"   goodput {format_number(service.goodput, 'rate')} requests/s", "bold"),
    )


def draw_claims(findings: Findings) -> Content | None:
    """What the preset claims, with what was measured; None where it claims nothing."""
    preset = findings.subject.preset
    if preset is None or not preset.claims:
        return None
    title = "claims (simulated)" if findings.study.is_simulated else "claims"
    lines = [Content.styled(title, "bold $primary")]
    for verdict in findings.study.verdicts:
        lines += _claim(verdict)
    if findings.doubts:
        lines.append(Content.styled(f"not judged: {'; '.join(findings.doubts)}", "$warning"))
    elif missing := missing_engines(findings):
        names = one_line(", ".join(missing))
        text = f"the open ones need a run of {names} too: n runs the next one"
        lines.append(Content.styled(text, "$muted"))
    if findings.judged_with:
        names = ", ".join(name or "its own engine" for name in findings.judged_with)
        lines.append(Content.styled(f"beside the newest kept runs of {one_line(names)}", "$muted"))
    return Content("\n").join(lines)


def draw_worst(findings: Findings) -> Content:
    """The longest gap of all, and its culprit."""
    worst = findings.worst
    if worst is None:
        return Content.styled("no answer came in pieces, so there is no gap to explain", "$muted")
    length = format_number(worst.gap.seconds * 1000, "ms")
    return Content.assemble(
        (f"worst gap {length} ms", "bold"),
        f" of {one_line(worst.request_id)}: {one_line(explain_gap(worst.gap))}",
    )


def draw_request(served: Served) -> Content:
    """A line of the list of the slowest requests."""
    name = one_line(served.id)
    name = name if len(name) <= NAME else f"{name[: NAME - 1]}…"
    return Content.assemble(
        (f"{name:<{NAME}} ", "bold"),
        f"{served.num_prompt_tokens:>6} in {served.num_output_tokens:>5} out",
        f"  TTFT {_ms(served.ttft):>7}  E2EL {_ms(served.e2e):>7}",
        f"  gap {_ms(served.worst_gap):>7}",
    )


def missing_engines(findings: Findings) -> list[str]:
    """Engines that open claims would need a run of."""
    known = {findings.subject.variant, *findings.judged_with}
    claims = [v.claim for v in findings.study.verdicts if v.ruling is Ruling.OPEN]
    sides = (side for claim in claims for side in (claim.left, claim.right))
    return list(dict.fromkeys(side for side in sides if side and side not in known))


def _claim(verdict: Verdict) -> list[Content]:
    mark, style = MARKS[verdict.ruling]
    return [
        Content.assemble((f"{mark} ", style), one_line(verdict.claim.text)),
        Content.styled(f"  {one_line(tell_evidence(verdict))}", "$muted"),
    ]


def _numbers(name: str, spread: Spread | None) -> Content:
    if spread is None:
        return Content.assemble((f"{name:<{NAME}}", "bold"), ("nothing was delivered so", "$muted"))
    cells = (spread.p50, spread.p90, spread.p95, spread.p99, spread.max)
    text = "".join(f"{format_number(each * 1000, 'ms'):>{CELL}}" for each in cells)
    return Content.assemble((f"{name:<{NAME}}", "bold"), text, (f"{spread.n:>{COUNT},}", "$muted"))


def _bins(spread: Spread | None, values: Sequence[float], width: int) -> Content:
    """A histogram between its least and its greatest value, in milliseconds."""
    if spread is None or not len(values):
        return Content("")
    axis = "log" if is_logarithmic(values) else "linear"
    low = format_number(min(values) * 1000, "ms")
    high = f"{format_number(max(values) * 1000, 'ms')} {axis}"
    room = max(8, width - AXIS)
    drawn = latency_histogram(values, room)
    return Content.assemble(
        (f"{low:>6} ", "$muted"), (drawn, "$phase-decode-ink"), (f" {high}", "$muted")
    )


def _objectives(slo: Slo) -> str:
    limits = {"TTFT": slo.ttft_ms, "TPOT": slo.tpot_ms, "E2EL": slo.e2e_ms}
    told = [f"{name} ≤ {limit:g} ms" for name, limit in limits.items() if limit is not None]
    return ", ".join(told)


def _ms(seconds: float | None) -> str:
    return "—" if seconds is None else format_number(seconds * 1000, "ms")
