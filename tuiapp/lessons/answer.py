"""Measured numbers in words, with the unit that a metric's name says."""

from __future__ import annotations

from engine.metrics.report import Number
from tuiapp.lessons.lesson import Measure

SHARES = ("share", "occupancy", "kv_peak", "attainment")
RATES = {"out_tps": "tok/s", "rps": "requests/s", "goodput_rps": "requests/s"}


def show_number(metric: str, value: Number) -> str:
    """A value of a metric; a dash where it is undefined."""
    if value is None:
        return "—"
    if "_ms" in metric:
        if value >= 10_000:
            return f"{value / 1000:.1f} s"
        return f"{value:,.0f} ms" if value >= 100 else f"{value:.1f} ms"
    if metric.endswith(SHARES):
        return f"{value:.0%}"
    if metric in RATES:
        return f"{value:.0f} {RATES[metric]}"
    return f"{value:,}" if isinstance(value, int) else f"{value:.1f}"


def show_answer(measure: Measure, value: Number) -> str:
    """The answer to a question: a value, or how many times one run's is the other's."""
    if measure.over and value is not None:
        return f"{value:.2f} times"
    return show_number(measure.metric, value)
