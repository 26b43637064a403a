"""Histograms in one line, for what spreads over decades."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np

from tuiapp.widgets.bars import spark

LINEAR = 4.0  # values that spread less than so many times lie on a linear axis
SHORTEST = 1e-6  # of the largest value: what is nearly no time has no place on a logarithmic axis


def latency_histogram(values: Sequence[float], width: int) -> str:
    """Counts in `width` bins from the least to the greatest value, as a spark line.

    The bins are equally wide on a logarithmic axis if the values spread far, so that a tail is
    seen and does not squeeze the rest into one bin.
    """
    if not len(values) or width < 1:
        return " " * width
    array = np.asarray(values, dtype=np.float64)
    low, high = float(array.min()), float(array.max())
    if is_logarithmic(values):
        low = max(low, high * SHORTEST)
        array = np.log(np.maximum(array, low))
        low, high = log(low), log(high)
    if low == high:
        return spark([float(len(values))], width).strip().ljust(width)
    counts, _ = np.histogram(array, bins=width, range=(low, high))
    return spark([float(count) for count in counts], width)


def is_logarithmic(values: Sequence[float]) -> bool:
    """Whether the values spread so far that a linear axis would hide most of them."""
    return bool(len(values)) and max(values) > LINEAR * max(min(values), 0.0)
