"""Which gauge a device gets, and that one without a driver is not passed off as a CPU."""

from __future__ import annotations

from engine.telemetry import make_telemetry


def test_a_device_without_a_driver_has_only_its_host_to_tell_of_and_says_why():
    gauges = make_telemetry("00000000-0000-0000-0000-000000000000").read(0.0)

    assert (gauges.name, gauges.utilisation, gauges.memory_total) == ("GPU", None, 0)
    assert gauges.problem.startswith("the driver (NVML) says nothing of this device: ")
    assert gauges.cpu is not None
    assert gauges.cpu.resident > 0


def test_no_cuda_device_means_the_cpu_gauge():
    gauges = make_telemetry("").read(0.0)

    assert (gauges.name, gauges.problem) == ("CPU", "")
