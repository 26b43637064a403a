"""The common time axis of the lanes, as lines of text."""

from __future__ import annotations

from tuiapp.export.ticks import linear_ticks

CELLS_A_TICK = 11


def draw_axis(span: float, width: int) -> str:
    """Round seconds at their places, from 0 to `span`."""
    line = [" "] * width
    for tick in linear_ticks(span, max(1, width // CELLS_A_TICK)):
        label = f"{tick:g} s" if tick else "0"
        at = round(tick / span * width)
        if at + len(label) + 1 <= width:
            line[at : at + len(label) + 1] = f"╷{label}"
    return "".join(line)


def show_seconds(seconds: float) -> str:
    """A length of time in as few signs as tell it apart."""
    return f"{seconds * 1000:.0f} ms" if seconds < 0.9995 else f"{seconds:.2f} s"
