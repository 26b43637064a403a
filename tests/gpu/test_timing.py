"""A pass is timed on the device itself, and the gauges of a Hopper are there."""

from __future__ import annotations

import time

import pytest
import torch

from engine.runners.pass_timer import PassTimer

pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def _needs_cuda(device: torch.device) -> None:
    if device.type != "cuda":
        pytest.skip("only a CUDA device has events and gauges")


def test_the_time_on_the_device_is_that_of_its_kernels_and_not_of_the_calls(device):
    matrix = torch.ones(8192, 8192, dtype=torch.bfloat16, device=device)
    torch.cuda.synchronize()
    timer = PassTimer(device)
    timer.prepared()
    for _ in range(20):
        matrix = matrix @ matrix
    timer.called()
    timer.sampled()
    torch.cuda.synchronize()

    timing = timer.read()

    assert 0.005 < timing.device < 5.0
    assert timing.prepare < 0.001


def test_a_second_reading_has_all_that_the_driver_says(device):
    from engine.runners.device import device_uuid
    from engine.telemetry import make_telemetry

    gauge = make_telemetry(device_uuid(device))
    gauge.read(now=0.0)
    matrix = torch.ones(4096, 4096, dtype=torch.bfloat16, device=device)
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        matrix @ matrix
        torch.cuda.synchronize()
    gauges = gauge.read(now=1.0)
    gauge.close()

    assert gauges.gpu is not None
    assert gauges.cpu is not None
    assert gauges.gpu.sm_clock_mhz is None or gauges.gpu.sm_clock_mhz > 100
    for share in (gauges.gpu.sm_busy, gauges.gpu.sm_occupancy, gauges.gpu.dram_busy):
        assert share is None or 0 <= share <= 1
