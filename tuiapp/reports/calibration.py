"""How far a calibrated device is off, as a table and in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from engine.calibrate import Point
from engine.cost import Roofline
from engine.cost.fit import Timed, errors_of

MEDIAN_BAR, P90_BAR = 0.10, 0.25  # errors up to which a simulation counts as faithful


def report_errors(
    console: Console,
    cost: Roofline,
    fitted: Sequence[Timed],
    points: Sequence[Point],
    held_out: Sequence[Timed],
) -> None:
    """Print how far predictions are off, and whether that is good enough."""
    kinds: dict[str, list[Timed]] = {}
    for point, timed in zip(points, held_out, strict=True):
        kinds.setdefault(f"held out: {point.kind}", []).append(timed)
    rows = {"fitted": fitted, **kinds, "held out: all": held_out}
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("passes")
    for title in ("kinds", "from ms", "to ms", "median error", "p90 error", "worst"):
        table.add_column(title, justify="right")
    for name, some in rows.items():
        table.add_row(name, *_cells(cost, some))
    console.print(table)
    errors = errors_of(cost, held_out)
    is_good = errors.median <= MEDIAN_BAR and errors.p90 <= P90_BAR
    console.print(
        f"Predicted against measured, held out: median {errors.median:.1%}, p90 {errors.p90:.1%}; "
        f"{'within' if is_good else 'NOT within'} {MEDIAN_BAR:.0%} and {P90_BAR:.0%}.",
        highlight=False,
    )


def _cells(cost: Roofline, timed: Sequence[Timed]) -> list[str]:
    errors, seconds = errors_of(cost, timed), [each.seconds for each in timed]
    return [
        str(errors.n),
        f"{min(seconds) * 1000:.2f}",
        f"{max(seconds) * 1000:.2f}",
        f"{errors.median:.1%}",
        f"{errors.p90:.1%}",
        f"{errors.worst:.1%}",
    ]
