"""One request's life as a bar: what the engine did for it, from its arrival to its last token."""

from __future__ import annotations

from itertools import groupby

from textual.content import Content

from engine.request import COMPLETE
from tuiapp.explain import Life, Span, Stage

GLYPHS = {
    Stage.QUEUED: "·",
    Stage.BATCH_WAIT: "╎",
    Stage.PREFILL: "▒",
    Stage.STALLED: "┄",
    Stage.EVICTED: "✗",
    Stage.REDONE: "▓",
    Stage.DECODE: "─",
    Stage.HELD: "░",
}
ASCII_GLYPHS = {
    Stage.QUEUED: ".",
    Stage.BATCH_WAIT: "|",
    Stage.PREFILL: "#",
    Stage.STALLED: "-",
    Stage.EVICTED: "x",
    Stage.REDONE: "%",
    Stage.DECODE: "=",
    Stage.HELD: ":",
}
STYLES = {
    Stage.QUEUED: "$muted on $phase-free",
    Stage.BATCH_WAIT: "$warning on $phase-free",
    Stage.PREFILL: "$phase-prefill-ink on $phase-prefill",
    Stage.STALLED: "$phase-stalled-ink on $phase-stalled",
    Stage.EVICTED: "$phase-evicted-ink on $phase-evicted",
    Stage.REDONE: "$phase-prefill on $phase-prefill-ink",
    Stage.DECODE: "$phase-decode-ink on $phase-decode",
    Stage.HELD: "$phase-held-ink on $phase-held",
}


def draw_life(life: Life, width: int, *, ascii_only: bool = False) -> Content:
    """Three lines: what happened when, the bar, and the times in between."""
    total = life.end - life.start
    if not life.spans or total <= 0:
        return Content.styled("no time has gone by since it came", "$muted")
    marks, times = [(width, _name_end(life))], [(0, "0"), (width, milliseconds(total))]
    if life.ttft is not None and life.ttft < total:
        at = round(life.ttft / total * width)
        marks.append((at, "first token"))
        times.append((at, milliseconds(life.ttft)))
    return Content("\n").join(
        [
            Content.styled(_place(marks, width), "$muted"),
            _bar(life, width, ASCII_GLYPHS if ascii_only else GLYPHS),
            Content.styled(_place(times, width), "$muted"),
        ]
    )


def milliseconds(seconds: float | None) -> str:
    """For people: three digits or so, a dash where undefined."""
    if seconds is None:
        return "—"
    if seconds >= 10:
        return f"{seconds:.1f} s"
    return f"{seconds * 1000:.0f} ms" if seconds >= 0.0095 else f"{seconds * 1000:.1f} ms"


def _name_end(life: Life) -> str:
    if life.e2e is not None:
        return "done"
    return life.reason.value if life.reason and life.reason not in COMPLETE else "now"


def _bar(life: Life, width: int, glyphs: dict[Stage, str]) -> Content:
    cells = choose_cells(life, width)
    runs = ((stage, sum(1 for _ in run)) for stage, run in groupby(cells))
    parts = [(glyphs[stage] * length, STYLES[stage]) for stage, length in runs]
    return Content.assemble(*parts)


def choose_cells(life: Life, width: int) -> list[Stage]:
    """The stage that takes most of each cell; and each stage has one cell at least.

    Args:
        width: cells, at least 1.
    """
    step = (life.end - life.start) / width
    cells = [_most(life, life.start + cell * step, step) for cell in range(width)]
    for span in life.spans:
        if span.stage not in cells:
            cells[min(width - 1, int((span.start - life.start) / step))] = span.stage
    return cells


def _most(life: Life, begin: float, length: float) -> Stage:
    def overlap(span: Span) -> float:
        return min(span.end, begin + length) - max(span.start, begin)

    return max(life.spans, key=overlap).stage


def _place(texts: list[tuple[int, str]], width: int) -> str:
    """Texts that end at their places, or begin there near the left edge; later ones give way."""
    line = " " * width
    for place, text in texts:
        at = max(0, min(place, width) - len(text)) if place > len(text) else place
        if not line[max(0, at - 1) : at + len(text) + 1].strip():
            line = line[:at] + text + line[at + len(text) :]
    return line[:width]
