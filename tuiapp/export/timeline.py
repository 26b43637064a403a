"""The timeline of a run as SVG: slots by time, each stretch in the colour of its work."""

from __future__ import annotations

from engine.events import Work
from tuiapp.export.markup import tag, text
from tuiapp.export.sketch import NUM_BINS, Raster
from tuiapp.export.ticks import linear_ticks

WIDTH, MARGIN, ROW, AXIS = 1040.0, 52.0, 11.0, 22.0
MAX_SLOTS = 64
WORDS = {
    Work.PREFILL: "prefill",
    Work.DECODE: "decode",
    Work.HELD: "held, no work",
    Work.STALLED: "stalled",
}


def draw_timeline(raster: Raster, seconds: float, name: str) -> str:
    """Draw a run.

    Args:
        seconds: what the whole width stands for, so that runs can be compared.
        name: of the run, for those who cannot see it.
    """
    num_slots = min(len(raster.slots), MAX_SLOTS)
    height = num_slots * ROW + AXIS
    scale = (WIDTH - MARGIN) / seconds
    parts = [tag("title", text(f"{name}: what each slot did over time"))]
    for slot in range(num_slots):
        y = slot * ROW
        label = text(f"slot {slot}")
        parts.append(tag("text", label, x=MARGIN - 6, y=y + ROW - 2.5, class_="label end"))
        for first, count, work in raster.stretches(slot):
            x, width = MARGIN + first * raster.width * scale, count * raster.width * scale
            parts.append(tag("rect", x=x, y=y + 1, width=width, height=ROW - 2, class_=work.value))
    parts += _axis(seconds, scale, num_slots * ROW)
    svg = tag("svg", *parts, viewBox=f"0 0 {WIDTH + 8:g} {height:g}", role="img", class_="timeline")
    if len(raster.slots) <= MAX_SLOTS:
        return svg
    return svg + tag(
        "p", text(f"The first {MAX_SLOTS} of {len(raster.slots)} slots."), class_="note"
    )


def draw_legend() -> str:
    """What the colours mean."""
    parts = [
        tag("span", tag("i", class_=work.value), text(word), class_="key")
        for work, word in WORDS.items()
    ]
    return tag("p", *parts, class_="legend")


def span_of(raster: Raster) -> float:
    """Seconds from the first pass to the end of the last moment in which any slot worked."""
    ends = [
        (first + count) * raster.width
        for slot in range(len(raster.slots))
        for first, count, _ in raster.stretches(slot)[-1:]
    ]
    return max(ends, default=raster.width * NUM_BINS)


def _axis(seconds: float, scale: float, y: float) -> list[str]:
    parts = [tag("line", x1=MARGIN, x2=WIDTH, y1=y + 2, y2=y + 2, class_="axis")]
    for tick in linear_ticks(seconds):
        x = MARGIN + tick * scale
        parts.append(tag("line", x1=x, x2=x, y1=y + 2, y2=y + 6, class_="axis"))
        parts.append(tag("text", text(f"{tick:g} s"), x=x, y=y + 17, class_="label middle"))
    return parts
