"""The fit, closed on itself: passes timed by a known device have to give its figures back."""

from __future__ import annotations

import numpy as np
import pytest

from engine.cost import Achieved, Device, Load, Roofline
from engine.cost.fit import RIDGES, Timed, errors_of, fit_device
from engine.hardware import find_model

MODEL = find_model("tiny")
LOADS = [
    Load(rows, rows * chunk, rows, rows * chunk * context, rows * context)
    for rows in (1, 3, 8, 32)
    for chunk in (1, 16, 128)
    for context in (128, 512, 2048)
]


def make_device(ridge: float, **achieved: float) -> Device:
    """A device whose arithmetic overtakes the reading of weights at so many operations a byte."""
    return Device(
        name="known",
        memory_gb=1,
        bandwidth_gb_s=0.2 * 1000 / ridge,
        tflops={"float32": 0.2},
        achieved=Achieved(**{"linear_flops": 1.0, "weight_bandwidth": 1.0} | achieved),
    )


def time_on(device: Device, noise: float = 0.0) -> list[Timed]:
    cost, rng = Roofline(MODEL, device, "float32"), np.random.default_rng(1)
    return [
        Timed(load, cost.seconds_of(load) * float(1 + noise * rng.standard_normal()))
        for load in LOADS
    ]


def fit(timed: list[Timed]) -> Device:
    return fit_device(timed, MODEL, "float32", "fitted", 1.0)


@pytest.mark.parametrize("ridge", [RIDGES[12], RIDGES[24], RIDGES[36]])
def test_the_figures_of_a_known_device_come_back(ridge):
    known = make_device(ridge, attention_flops=0.4, kv_bandwidth=0.3, pass_ms=3, sequence_ms=0.05)
    found = fit(time_on(known))
    assert found.tflops["float32"] == pytest.approx(0.2, rel=1e-6)
    assert found.bandwidth_gb_s == pytest.approx(known.bandwidth_gb_s, rel=1e-6)
    for name in ("linear_flops", "attention_flops", "weight_bandwidth", "kv_bandwidth"):
        value = getattr(found.achieved, name)
        assert value == pytest.approx(getattr(known.achieved, name), rel=1e-6)
    assert found.achieved.pass_ms == pytest.approx(3, rel=1e-6)
    assert found.achieved.sequence_ms == pytest.approx(0.05, rel=1e-6)


def test_a_cost_that_is_not_there_is_not_made_up():
    known = make_device(RIDGES[12], pass_ms=0, sequence_ms=0)
    found = fit(time_on(known))
    assert found.achieved.pass_ms == pytest.approx(0, abs=1e-9)
    assert found.achieved.sequence_ms == pytest.approx(0, abs=1e-9)


def test_noise_does_not_lead_predictions_astray():
    known = make_device(RIDGES[24], pass_ms=3)
    found = Roofline(MODEL, fit(time_on(known, noise=0.1)), "float32")
    errors = errors_of(found, time_on(known))
    assert errors.median < 0.05
    assert errors.worst < 0.15


def test_errors_are_shares_of_the_measured_time():
    cost = Roofline(MODEL, make_device(1.0), "float32")
    exact = [cost.seconds_of(load) for load in LOADS[:3]]
    factors = (1.0, 1.25, 0.8)
    timed = [Timed(*each) for each in zip(LOADS, np.multiply(exact, factors), strict=False)]
    errors = errors_of(cost, timed)
    assert errors.n == 3
    assert errors.median == pytest.approx(0.2)
    assert errors.p90 == pytest.approx(0.2 + 0.8 * 0.05)
    assert errors.worst == pytest.approx(0.25)
