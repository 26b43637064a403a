"""`Telemetry`: reads a device's gauges, whichever device it is."""

from __future__ import annotations

from typing import Protocol

import psutil
import pynvml  # type: ignore[import-untyped]

from engine.events import Gauges
from engine.telemetry.cpu import CpuGauge
from engine.telemetry.driverless import DriverlessGauge
from engine.telemetry.nvml import NvmlGauge

# What psutil and NVML raise where a container, a driver or a /proc is not as they expect.
READ_ERRORS = (OSError, ValueError, RuntimeError, psutil.Error, pynvml.NVMLError)


class Telemetry(Protocol):
    """Reads a device's gauges; calls must come from one thread."""

    def read(self, now: float) -> Gauges:
        """What the device reports at `now`, in seconds on the engine's clock.

        Raises:
            Exception: one of `READ_ERRORS`; the next reading may succeed.
        """
        ...

    def close(self) -> None:
        """Give back what the driver holds for it; it is not read again."""
        ...


def make_telemetry(device_uuid: str) -> Telemetry:
    """The gauge of a CUDA device, or this process's own where there is none.

    A device whose driver cannot be asked has a gauge that says so in every reading.

    Args:
        device_uuid: empty for anything but CUDA.
    """
    if not device_uuid:
        return CpuGauge()
    try:
        return NvmlGauge(device_uuid)
    except pynvml.NVMLError as error:
        return DriverlessGauge(f"the driver (NVML) says nothing of this device: {error}")
