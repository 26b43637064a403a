"""Bars and spark lines as plain strings."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

EIGHTHS = " ▏▎▍▌▋▊▉█"
HEIGHTS = " ▁▂▃▄▅▆▇█"


def bar(share: float, width: int) -> tuple[str, str]:
    """A horizontal bar: its filled part, to an eighth of a cell, and the rest of `width` cells."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    full, part = divmod(eighths, 8)
    filled = "█" * full + (EIGHTHS[part] if part else "")
    return filled, "╌" * (width - len(filled))


def spark(values: Sequence[float], width: int, top: float | None = None) -> str:
    """The last `width` values, each as high as it is beside `top`, or else the largest one."""
    shown = values[-width:]
    most = top or max(shown, default=0.0)
    if most <= 0:
        return " " * width
    return "".join(HEIGHTS[ceil(value / most * 8)] for value in shown).rjust(width)


def histogram(values: Sequence[float], width: int) -> str:
    """Counts of values in `width` equal bins as a spark line."""
    if not values:
        return " " * width
    low, high = min(values), max(values)
    counts = [0.0] * width
    for value in values:
        counts[min(width - 1, int((value - low) / ((high - low) or 1.0) * width))] += 1
    return spark(counts, width)
