"""`CpuGauge`: this process and the machine that it runs on.

How much of the memory's bandwidth is in use is not among it: the counters of memory controllers
are for the machine's administrator alone.
"""

from __future__ import annotations

import psutil

from engine.events import CpuGauges, Gauges


class CpuGauge:
    """This process: its share of all cores since the last reading, and its resident memory."""

    def __init__(self) -> None:
        self._process = psutil.Process()
        self._num_cores = psutil.cpu_count() or 1
        self._process.cpu_percent()  # the first readings have nothing to compare with
        psutil.cpu_percent(percpu=True)

    def read(self, now: float) -> Gauges:
        cpu = self.read_cpu()
        return Gauges(
            time=now,
            name="CPU",
            utilisation=min(1.0, cpu.cores_used / self._num_cores),
            memory_used=cpu.resident,
            memory_total=psutil.virtual_memory().total,
            cpu=cpu,
        )

    def read_cpu(self) -> CpuGauges:
        """What the host has to do, for the gauge of another device too."""
        per_core = psutil.cpu_percent(percpu=True)
        return CpuGauges(
            cores_used=self._process.cpu_percent() / 100,
            resident=self._process.memory_info().rss,
            per_core=tuple(percent / 100 for percent in per_core),
            load=psutil.getloadavg()[0],
        )

    def close(self) -> None:
        """Nothing is held."""
