"""`Spread`: a distribution in a few numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

PERCENTILES = (50, 90, 95, 99)


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean, percentiles and maximum of `n` values, in the unit of the values.

    Percentiles are interpolated linearly, as by `numpy.percentile`; with few values the high
    ones say little more than the maximum does, so `n` stands beside them.
    """

    n: int
    mean: float
    p50: float
    p90: float
    p95: float
    p99: float
    max: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread | None:
        """Summarise; None without values: undefined, not zero."""
        if not len(values):
            return None
        array = np.asarray(values, dtype=np.float64)
        p50, p90, p95, p99 = (float(p) for p in np.percentile(array, PERCENTILES))
        return cls(len(array), float(array.mean()), p50, p90, p95, p99, float(array.max()))
