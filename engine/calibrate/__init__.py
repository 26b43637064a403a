"""Time this device, so that `engine.cost.fit` can make one to simulate of it."""

from __future__ import annotations

from engine.calibrate.passes import ROUNDS, CpuClock, measure
from engine.calibrate.points import MAX_CONTEXT_TOKENS, Point, fitting_points, held_out_points

__all__ = [
    "MAX_CONTEXT_TOKENS",
    "ROUNDS",
    "CpuClock",
    "Point",
    "fitting_points",
    "held_out_points",
    "measure",
]
