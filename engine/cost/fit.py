"""Fit a `Device` to measured passes, so that `Roofline` predicts them.

Once the ridge is known, the operations by byte from which on arithmetic takes longer than reading
the weights, the model is linear in five unknowns: milliseconds a pass and a sequence, and the
seconds by operation in the layers, by operation in attention and by byte of KV cache. So every
ridge of a list is tried. None of the five can be negative; there are so few that every choice of
those that are zero can be solved by least squares and the best kept, which is exact. Errors count
relative to the measured time, for a short pass matters as much as a long one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from engine.cost.device import DTYPE_BYTES, Achieved, Device
from engine.cost.load import Load
from engine.cost.model_shape import ModelShape
from engine.cost.roofline import Roofline

Floats = npt.NDArray[np.float64]
RIDGES = tuple(float(ridge) for ridge in np.geomspace(0.125, 1024, 53))  # operations by byte
NEGLIGIBLE = 1e-4  # of the shortest pass: what a part that was found to cost nothing may take


@dataclass(frozen=True, slots=True)
class Timed:
    """What a pass had to do and how long it took, in seconds."""

    load: Load
    seconds: float


@dataclass(frozen=True, slots=True)
class Errors:
    """How far predictions are off, as shares of the measured times."""

    n: int
    median: float
    p90: float
    worst: float


def fit_device(
    timed: Sequence[Timed], model: ModelShape, dtype: str, name: str, memory_gb: float
) -> Device:
    """The device on which `Roofline` comes nearest to what was measured.

    Its peaks are the best rates that were found, so the shares say how much worse the others are.

    Args:
        timed: passes of many kinds, on a single device.
        name, memory_gb: of the device; not fitted.
    """
    solutions = [_solve(timed, model, dtype, ridge) for ridge in RIDGES]
    _, ridge, costs = min(solutions, key=lambda solution: solution[0])
    pass_seconds, sequence_seconds, by_operation, by_attention, by_kv_byte = costs
    linear, attention = 1 / by_operation, 1 / by_attention
    weights, kv = linear / ridge, 1 / by_kv_byte
    flops, bandwidth = max(linear, attention), max(weights, kv)
    return Device(
        name=name,
        memory_gb=memory_gb,
        bandwidth_gb_s=bandwidth / 1e9,
        tflops={dtype: flops / 1e12},
        achieved=Achieved(
            linear_flops=linear / flops,
            attention_flops=attention / flops,
            weight_bandwidth=weights / bandwidth,
            kv_bandwidth=kv / bandwidth,
            pass_ms=pass_seconds * 1000,
            sequence_ms=sequence_seconds * 1000,
        ),
    )


def errors_of(cost: Roofline, timed: Sequence[Timed]) -> Errors:
    """Compare predictions with measured passes, of which there is at least one."""
    shares = [abs(cost.seconds_of(each.load) / each.seconds - 1) for each in timed]
    median, p90 = (float(part) for part in np.percentile(shares, (50, 90)))
    return Errors(len(shares), median, p90, max(shares))


def _solve(
    timed: Sequence[Timed], model: ModelShape, dtype: str, ridge: float
) -> tuple[float, float, list[float]]:
    """The best costs for one ridge: the sum of squared relative errors, the ridge, the costs."""
    seconds = np.array([each.seconds for each in timed])
    rows = np.array([_row(each.load, model, dtype, ridge) for each in timed])
    scale = rows.max(axis=0)
    loss, solution = _least_squares(rows / scale / seconds[:, None])
    floor = NEGLIGIBLE * seconds.min() / scale
    floor[:2] = 0  # overheads may be none; a rate has to be finite
    return loss, ridge, [float(cost) for cost in np.maximum(solution / scale, floor)]


def _row(load: Load, model: ModelShape, dtype: str, ridge: float) -> tuple[float, ...]:
    """What the five costs of a pass are multiplied with."""
    traffic = model.weights_read(load) * DTYPE_BYTES[dtype]
    return (
        1.0,
        load.num_rows,
        max(model.layer_operations(load), ridge * traffic),
        model.attention_operations(load),
        model.kv_values_per_token * DTYPE_BYTES[dtype] * load.num_cached,
    )


def _least_squares(rows: Floats) -> tuple[float, Floats]:
    """The numbers of at least 0 whose products with each row come nearest to 1."""
    best, found = float("inf"), np.zeros(rows.shape[1])
    for mask in product((False, True), repeat=rows.shape[1]):
        columns = np.flatnonzero(mask)
        part = np.linalg.lstsq(rows[:, columns], np.ones(len(rows)), rcond=None)[0]
        loss = float(np.square(rows[:, columns] @ part - 1).sum())
        if loss < best and (part >= 0).all():
            best, found = loss, np.zeros(rows.shape[1])
            found[columns] = part
    return best, found
