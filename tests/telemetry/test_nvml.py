"""What is read of an NVIDIA device, and what becomes of that which one does not say."""

from __future__ import annotations

import pynvml
import pytest

from engine.telemetry.nvml import NvmlGauge
from tests.telemetry.fake_nvml import FakeNvml

UUID = "1a2b3c4d-0000-0000-0000-000000000000"


def read(nvml, times=1):
    gauge = NvmlGauge(UUID, nvml)
    gauges = [gauge.read(float(time)) for time in range(times)][-1]
    gauge.close()
    return gauges


def test_everything_that_a_hopper_says():
    gauges = read(FakeNvml(), times=2)
    assert (gauges.time, gauges.name, gauges.utilisation) == (1.0, "GPU", 0.97)
    assert (gauges.memory_used, gauges.memory_total) == (20 << 30, 80 << 30)
    assert (gauges.power_w, gauges.energy_j) == (412.0, 1234.5)
    gpu = gauges.gpu
    assert gpu.memory_busy == 0.55
    assert (gpu.sm_clock_mhz, gpu.max_sm_clock_mhz, gpu.memory_clock_mhz) == (1410, 1980, 3201)
    assert (gpu.temperature_c, gpu.power_limit_w) == (61, 700.0)
    assert gpu.slowed_by == ("software power cap", "software thermal slowdown")
    assert (gpu.sm_busy, gpu.sm_occupancy, gpu.tensor_busy, gpu.dram_busy) == (
        0.8,
        0.4,
        0.125,
        0.625,
    )
    assert gauges.cpu.resident > 0, "and the host beside it"


@pytest.mark.parametrize("uuid", [UUID, f"GPU-{UUID}"])
def test_the_device_is_found_by_its_uuid_whoever_numbers_it_how(uuid):
    nvml = FakeNvml()
    NvmlGauge(uuid, nvml)
    assert nvml.uuid == f"GPU-{UUID}"


def test_power_is_the_average_where_the_driver_has_none_of_the_moment():
    assert read(FakeNvml("instant power")).power_w == 350.0
    assert read(FakeNvml("fields")).power_w == 350.0
    assert read(FakeNvml("fields", "power")).power_w is None


def test_an_older_driver_names_the_reasons_by_their_older_name():
    assert read(FakeNvml("event reasons")).gpu.slowed_by == ("hardware slowdown",)
    assert read(FakeNvml("event reasons", "throttle reasons")).gpu.slowed_by == ()


def test_what_a_slice_of_a_device_does_not_say_is_none_and_the_rest_is_read():
    gauges = read(
        FakeNvml("utilisation", "energy", "clocks", "temperature", "limit", "gpm"), times=2
    )
    assert (gauges.utilisation, gauges.energy_j, gauges.power_w) == (None, None, 412.0)
    gpu = gauges.gpu
    assert (gpu.memory_busy, gpu.sm_clock_mhz, gpu.temperature_c) == (None, None, None)
    assert (gpu.power_limit_w, gpu.sm_busy, gpu.dram_busy) == (None, None, None)
    assert gauges.memory_used == 20 << 30


def test_memory_that_is_not_told_is_nothing():
    gauges = read(FakeNvml("memory"))
    assert (gauges.memory_used, gauges.memory_total) == (0, 0)


@pytest.mark.parametrize(("nvml", "uuid"), [(FakeNvml("nvmlInit"), UUID), (FakeNvml(), "absent")])
def test_no_driver_and_no_such_device_are_errors_that_leave_nothing_open(nvml, uuid):
    with pytest.raises(pynvml.NVMLError):
        NvmlGauge(uuid, nvml)
    assert not nvml.is_open


def test_a_closed_gauge_holds_nothing():
    nvml = FakeNvml()
    gauge = NvmlGauge(UUID, nvml)
    gauge.read(0.0)
    assert len(nvml.held) == 2
    gauge.close()
    assert nvml.held == []
    assert not nvml.is_open
