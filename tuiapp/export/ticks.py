"""Where the axis of a drawing has its marks."""

from __future__ import annotations

from math import ceil, floor, log10

STEPS = (1.0, 2.0, 5.0, 10.0)


def linear_ticks(end: float, count: int = 8) -> list[float]:
    """Round numbers from 0 to `end`, about `count` of them."""
    rough = end / count
    size = 10.0 ** floor(log10(rough))
    step = next(size * each for each in STEPS if size * each >= rough * 0.999)
    digits = max(0, -floor(log10(step)))
    return [round(number * step, digits) for number in range(floor(end / step + 1e-9) + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 of every power of ten between two numbers above 0; of many powers, 1 alone."""
    first, last = floor(log10(low)), ceil(log10(high))
    leads = STEPS[:3] if last - first <= 3 else STEPS[:1]
    ticks = [lead * 10.0**power for power in range(first, last + 1) for lead in leads]
    return [tick for tick in ticks if low <= tick <= high]
