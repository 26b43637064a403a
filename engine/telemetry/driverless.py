"""`DriverlessGauge`: a CUDA device whose driver says nothing, as in containers without NVML.

Its host has numbers all the same, and they are not taken for the device's.
"""

from __future__ import annotations

from engine.events import Gauges
from engine.telemetry.cpu import CpuGauge


class DriverlessGauge:
    """The host beside a device of which nothing is known.

    Args:
        problem: why, in words.
    """

    def __init__(self, problem: str) -> None:
        self._problem = problem
        self._host = CpuGauge()

    def read(self, now: float) -> Gauges:
        return Gauges(
            time=now,
            name="GPU",
            utilisation=None,
            memory_used=0,
            memory_total=0,
            cpu=self._host.read_cpu(),
            problem=self._problem,
        )

    def close(self) -> None:
        """Nothing is held."""
