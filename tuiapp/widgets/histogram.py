"""Histograms, also for what spreads over decades."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log

import numpy as np

from tuiapp.widgets.bars import HEIGHTS, spark

LINEAR = 4.0  # values that spread less than so many times lie on a linear axis
NOISE = 1e-9  # of the largest value: a spread of less is float rounding, and has no bins
SHORTEST = 1e-6  # of the largest value: what is nearly no time has no place on a logarithmic axis
EIGHTHS = 8


def count_bins(values: Sequence[float], width: int, *, logarithmic: bool = False) -> list[float]:
    """How many values lie in each of `width` equal bins from the least to the greatest."""
    if not len(values) or width < 1:
        return [0.0] * width
    array = np.asarray(values, dtype=np.float64)
    low, high = float(array.min()), float(array.max())
    if high - low <= NOISE * max(abs(low), abs(high)):
        return [float(len(values)), *[0.0] * (width - 1)]
    if logarithmic and high > 0:
        low = max(low, high * SHORTEST)
        array = np.log(np.maximum(array, low))
        low, high = log(low), log(high)
    counts, _ = np.histogram(array, bins=width, range=(low, high))
    return [float(count) for count in counts]


def latency_histogram(values: Sequence[float], width: int) -> str:
    """Counts in `width` bins from the least to the greatest value, as a spark line.

    The bins are equally wide on a logarithmic axis if the values spread far, so that a tail is
    seen and does not squeeze the rest into one bin.
    """
    return spark(count_bins(values, width, logarithmic=is_logarithmic(values)), width)


def is_logarithmic(values: Sequence[float]) -> bool:
    """Whether the values spread so far that a linear axis would hide most of them."""
    return bool(len(values)) and max(values) > LINEAR * max(min(values), 0.0)


def columns(counts: Sequence[float], height: int) -> list[str]:
    """The same in several lines, the upper one first; whatever is there is seen."""
    most = max(counts, default=0.0) or 1.0
    eighths = [ceil(count / most * EIGHTHS * height) for count in counts]
    lines = []
    for row in reversed(range(height)):
        filled = (max(0, min(EIGHTHS, each - row * EIGHTHS)) for each in eighths)
        lines.append("".join(HEIGHTS[each] for each in filled))
    return lines
