"""Kept runs as lines of a list, and two of them side by side."""

from __future__ import annotations

from textual.content import Content

from tuiapp.library.entry import Entry
from tuiapp.reports.as_table import format_number, format_ratio
from tuiapp.running.study import RUN_LINES, ratio
from tuiapp.text import one_line

WIDE = 104  # columns from which a line says where a run was made
DATE, NAME, WHERE, DEVICE, NUMBER = 13, 28, 21, 11, 9
SIDE = 19  # of two runs side by side
WIDE_TITLES = ("requests", "TTFT p50", "ITL p99", "tok/s", "MiB")
NARROW_TITLES = ("TTFT p50", "tok/s")


def draw_heading(width: int) -> Content:
    """What stands in the columns."""
    where = f"{'model · device':<{WHERE}}" if width >= WIDE else f"{'device':<{DEVICE}}"
    numbers = "".join(f"{name:>{NUMBER}}" for name in _titles(width))
    return Content.styled(f"   {'when':<{DATE}}{'preset':<{NAME}}{where}{numbers}", "$muted")


def draw_entry(entry: Entry, width: int, *, is_marked: bool) -> Content:
    """One run."""
    mark = (" ◦ " if is_marked else "   ", "bold")
    when = entry.when.strftime("%b %d %H:%M") if entry.when else "—"
    if entry.problem:
        return Content.assemble(
            mark,
            f"{when:<{DATE}}{_fit(entry.name, NAME)}",
            (_fit(entry.problem, max(2, width - len(mark[0]) - DATE - NAME)), "italic"),
        )
    name = f"{entry.preset} {entry.engine}".strip()
    device = "simulated" if entry.is_simulated else entry.device
    where = _fit(f"{entry.model} · {device}", WHERE) if width >= WIDE else _fit(device, DEVICE)
    told = [f"{text:>{NUMBER}}" for text in _numbers(entry, width)]
    return Content.assemble(
        mark,
        f"{when:<{DATE}}",
        (_fit(name, NAME), "bold"),
        where,
        "".join(told),
    )


def draw_details(entry: Entry) -> Content:
    """All that is known of a run without reading it."""
    if entry.problem:
        lines = [f"It cannot be opened: {one_line(entry.problem)}", str(entry.path)]
        return Content("\n").join([Content.styled(lines[0], "$error"), Content(lines[1])])
    doubts = entry.about.get("doubts") or ()
    title = one_line(str(entry.about.get("title") or entry.name))
    kind = "simulated" if entry.is_simulated else entry.device
    lines = [f"{title}   {one_line(f'{entry.model} on {kind}')}", str(entry.path)]
    if not entry.run:
        lines[0] += "   no report yet: ⏎ makes one"
    elif doubts:
        lines[0] += f"   {one_line('; '.join(map(str, doubts)))}"
    return Content("\n").join([Content(lines[0]), Content.styled(lines[1], "$muted")])


def draw_pair(first: Entry, second: Entry) -> Content:
    """Every metric of two runs, and how many times the first one's the second one's is."""
    head = (
        f"{'':<22}{_fit(_title(first), SIDE, left=False)}{_fit(_title(second), SIDE, left=False)}"
    )
    lines = [Content.styled(head, "bold")]
    for line in RUN_LINES:
        left, right = first.value(line.metric), second.value(line.metric)
        if line.is_rare and not left and not right:
            continue
        cells = "".join(f"{format_number(each, line.kind):>{SIDE}}" for each in (left, right))
        times = "" if line.kind == "count" else format_ratio(ratio(right, left))
        lines.append(Content.assemble((f"{line.title:<22}", "$muted"), cells, f"{times:>10}"))
    return Content("\n").join(lines)


def _title(entry: Entry) -> str:
    return entry.engine or entry.name


def _titles(width: int) -> tuple[str, ...]:
    return WIDE_TITLES if width >= WIDE else NARROW_TITLES


def _numbers(entry: Entry, width: int) -> tuple[str, ...]:
    ttft = format_number(entry.value("ttft_p50_ms"), "ms")
    rate = format_number(entry.value("out_tps"), "rate")
    if width < WIDE:
        return ttft, rate
    count = format_number(entry.value("num_requests"), "count")
    itl = format_number(entry.value("itl_p99_ms"), "ms")
    return count, ttft, itl, rate, f"{entry.size / 2**20:,.1f}"


def _fit(text: str, width: int, *, left: bool = True) -> str:
    """The text in so many cells, the last of which stays free."""
    text = one_line(text)
    short = text if len(text) < width else f"{text[: width - 2]}…"
    return f"{short:<{width}}" if left else f"{short:>{width}}"
