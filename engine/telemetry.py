"""What a device says about itself: load, memory, power. Read a few times a second at most.

NVML's utilisation is the share of a recent fraction of a second in which some kernel ran, not how
full the device was.
"""

from __future__ import annotations

from typing import Protocol

import psutil
import pynvml  # type: ignore[import-untyped]

from engine.events import Gauges


class Telemetry(Protocol):
    """Reads a device's gauges; calls must come from one thread."""

    def read(self, now: float) -> Gauges:
        """What the device reports at `now`, in seconds on the engine's clock."""
        ...


def make_telemetry(device_uuid: str) -> Telemetry:
    """The gauge of a CUDA device, or this process's own where there is none or no driver.

    Args:
        device_uuid: empty for anything but CUDA.
    """
    if not device_uuid:
        return CpuGauge()
    try:
        return NvmlGauge(device_uuid)
    except pynvml.NVMLError:
        return CpuGauge()


class CpuGauge:
    """This process: its share of all cores since the last reading, and its resident memory."""

    def __init__(self) -> None:
        self._process = psutil.Process()
        self._num_cores = psutil.cpu_count() or 1
        self._process.cpu_percent()  # the first reading has nothing to compare with

    def read(self, now: float) -> Gauges:
        return Gauges(
            time=now,
            name="CPU",
            utilisation=min(1.0, self._process.cpu_percent() / 100 / self._num_cores),
            memory_used=self._process.memory_info().rss,
            memory_total=psutil.virtual_memory().total,
        )


class NvmlGauge:
    """One NVIDIA device, whoever uses it.

    Args:
        uuid: with or without `GPU-` before it. The device's number would not do: NVML counts
            all devices, torch those that the process may see.

    Raises:
        pynvml.NVMLError: there is no driver, or no such device.
    """

    def __init__(self, uuid: str) -> None:
        pynvml.nvmlInit()
        self._handle = pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{uuid.removeprefix('GPU-')}")

    def read(self, now: float) -> Gauges:
        memory_used, memory_total = self._memory()
        return Gauges(
            time=now,
            name="GPU",
            utilisation=self._utilisation(),
            memory_used=memory_used,
            memory_total=memory_total,
            power_w=self._power_w(),
        )

    def _memory(self) -> tuple[int, int]:
        """Used and in all, in bytes; nothing where the device does not say."""
        try:
            memory = pynvml.nvmlDeviceGetMemoryInfo(self._handle)
        except pynvml.NVMLError:
            return 0, 0
        return int(memory.used), int(memory.total)

    def _utilisation(self) -> float | None:
        """0 to 1, or None where the device does not say, as under MIG."""
        try:
            return float(pynvml.nvmlDeviceGetUtilizationRates(self._handle).gpu) / 100
        except pynvml.NVMLError:
            return None

    def _power_w(self) -> float | None:
        try:
            return float(pynvml.nvmlDeviceGetPowerUsage(self._handle)) / 1000
        except pynvml.NVMLError:
            return None
