"""What a device says about itself."""

from __future__ import annotations

from engine.telemetry import CpuGauge, make_telemetry


def test_the_cpu_gauge_reports_this_process():
    gauges = CpuGauge().read(now=3.5)

    assert gauges.time == 3.5
    assert gauges.name == "CPU"
    assert gauges.utilisation is not None
    assert 0 <= gauges.utilisation <= 1
    assert 10 * 2**20 < gauges.memory_used < gauges.memory_total
    assert gauges.power_w is None


def test_the_cpu_gauge_notices_work():
    gauge = CpuGauge()
    gauge.read(now=0.0)

    sum(index * index for index in range(2_000_000))

    utilisation = gauge.read(now=1.0).utilisation
    assert utilisation is not None
    assert utilisation > 0.01


def test_a_device_without_a_driver_leaves_the_cpu_gauge():
    assert make_telemetry("00000000-0000-0000-0000-000000000000").read(0.0).name == "CPU"


def test_no_cuda_device_means_the_cpu_gauge():
    assert make_telemetry("").read(0.0).name == "CPU"
