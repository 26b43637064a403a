"""What a process says about itself and its machine."""

from __future__ import annotations

import psutil

from engine.telemetry.cpu import CpuGauge


def test_it_reports_this_process():
    gauges = CpuGauge().read(now=3.5)

    assert gauges.time == 3.5
    assert gauges.name == "CPU"
    assert gauges.utilisation is not None
    assert 0 <= gauges.utilisation <= 1
    assert 10 * 2**20 < gauges.memory_used < gauges.memory_total
    assert (gauges.power_w, gauges.energy_j, gauges.gpu) == (None, None, None)


def test_it_reports_the_machine_beside_it():
    cpu = CpuGauge().read(now=0.0).cpu
    assert cpu is not None
    assert len(cpu.per_core) == psutil.cpu_count()
    assert all(0 <= share <= 1 for share in cpu.per_core)
    assert cpu.load >= 0


def test_it_notices_work():
    gauge = CpuGauge()
    gauge.read(now=0.0)

    sum(index * index for index in range(2_000_000))

    gauges = gauge.read(now=1.0)
    assert gauges.utilisation is not None
    assert gauges.utilisation > 0.01
    assert gauges.cpu is not None
    assert gauges.cpu.cores_used > 0.1
