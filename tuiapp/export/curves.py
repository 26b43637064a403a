"""Latency curves as SVG: which share of all values lies at or below a number of milliseconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log10

import numpy as np

from tuiapp.export.markup import tag, text
from tuiapp.export.ticks import log_ticks

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 400.0, 240.0, 40.0, 34.0, 10.0
NUM_POINTS = 200
SHARES = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)
LEAST_MS = 1e-3  # what is no time at all has no place on a logarithmic axis


def draw_curves(title: str, latencies: Mapping[str, Sequence[float]]) -> str:
    """Draw the distribution of every run.

    Args:
        latencies: in seconds, by run; one without any has no curve.
    """
    known = {name: _quantiles(values) for name, values in latencies.items() if len(values)}
    if not known:
        return tag("figure", tag("figcaption", text(f"{title}: nothing was delivered so")))
    low = min(points[0] for points in known.values()) * 0.8
    high = max(points[-1] for points in known.values()) * 1.25
    parts = [tag("title", text(title)), *_axes(low, high)]
    for place, name in enumerate(latencies):
        if name in known:
            parts.append(_curve(known[name], low, high, place))
    svg = tag("svg", *parts, viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}", role="img")
    return tag("figure", svg, tag("figcaption", text(title)))


def draw_names(names: Sequence[str]) -> str:
    """Which line is whose."""
    parts = []
    for place, name in enumerate(names):
        line = tag("line", x1=0, x2=28, y1=6, y2=6, class_=_line_class(place))
        key = tag("svg", line, viewBox="0 0 28 12", class_="key-line")
        parts.append(tag("span", key, text(name), class_="key"))
    return tag("p", *parts, class_="legend")


def _quantiles(values: Sequence[float]) -> list[float]:
    """Latencies in milliseconds at equal steps of share, from the least to the greatest."""
    shares = np.linspace(0, 1, NUM_POINTS + 1)
    milliseconds = np.quantile(np.asarray(values, dtype=float), shares) * 1000
    return [float(each) for each in np.maximum(milliseconds, LEAST_MS)]


def _curve(points: Sequence[float], low: float, high: float, place: int) -> str:
    last = len(points) - 1
    pairs = (f"{_x(ms, low, high):.1f},{_y(at / last):.1f}" for at, ms in enumerate(points))
    return tag("polyline", points=" ".join(pairs), class_=_line_class(place))


def _axes(low: float, high: float) -> list[str]:
    parts = []
    for share in SHARES:
        y = _y(share)
        parts.append(tag("line", x1=LEFT, x2=WIDTH, y1=y, y2=y, class_="grid"))
        parts.append(tag("text", text(f"{share:.0%}"), x=LEFT - 6, y=y + 4, class_="label end"))
    for tick in log_ticks(low, high):
        x = _x(tick, low, high)
        parts.append(tag("line", x1=x, x2=x, y1=TOP, y2=HEIGHT - BOTTOM, class_="grid"))
        label = text(f"{tick:g}")
        parts.append(tag("text", label, x=x, y=HEIGHT - BOTTOM + 15, class_="label middle"))
    parts.append(tag("text", text("milliseconds"), x=WIDTH - 4, y=HEIGHT - 4, class_="label end"))
    return parts


def _x(milliseconds: float, low: float, high: float) -> float:
    return LEFT + (WIDTH - LEFT - 8) * log10(milliseconds / low) / log10(high / low)


def _y(share: float) -> float:
    return TOP + (1 - share) * (HEIGHT - TOP - BOTTOM)


def _line_class(place: int) -> str:
    return f"curve run-{place % 6}"
