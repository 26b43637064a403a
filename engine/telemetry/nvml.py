"""`NvmlGauge`: what an NVIDIA driver says of one device, each part only where it does say it.

NVML's utilisation is the share of a recent fraction of a second in which some kernel ran, not how
full the device was; `engine.telemetry.gpm` tells more where the device has it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import pynvml  # type: ignore[import-untyped]

from engine.events import Gauges, GpuGauges
from engine.telemetry.cpu import CpuGauge
from engine.telemetry.gpm import Gpm
from engine.telemetry.slowdown import name_reasons

T = TypeVar("T")


class NvmlGauge:
    """One NVIDIA device, whoever uses it, and the host beside it.

    Args:
        uuid: with or without `GPU-` before it. The device's number would not do: NVML counts
            all devices, torch those that the process may see.
        nvml: the functions of NVML.

    Raises:
        pynvml.NVMLError: there is no driver, or no such device.
    """

    def __init__(self, uuid: str, nvml: Any = pynvml) -> None:
        self._nvml = nvml
        nvml.nvmlInit()
        try:
            self._handle = nvml.nvmlDeviceGetHandleByUUID(f"GPU-{uuid.removeprefix('GPU-')}")
        except nvml.NVMLError:
            nvml.nvmlShutdown()  # nobody will close what was never made
            raise
        self._gpm = Gpm(self._handle, nvml)
        self._host = CpuGauge()

    def read(self, now: float) -> Gauges:
        nvml, ask = self._nvml, self._ask
        memory = ask(nvml.nvmlDeviceGetMemoryInfo)
        rates = ask(nvml.nvmlDeviceGetUtilizationRates)  # has none under MIG
        energy_mj = ask(nvml.nvmlDeviceGetTotalEnergyConsumption)
        return Gauges(
            time=now,
            name="GPU",
            utilisation=None if rates is None else rates.gpu / 100,
            memory_used=0 if memory is None else int(memory.used),
            memory_total=0 if memory is None else int(memory.total),
            power_w=self._power_w(),
            energy_j=None if energy_mj is None else energy_mj / 1000,
            gpu=self._read_gpu(None if rates is None else rates.memory / 100),
            cpu=self._host.read_cpu(),
        )

    def close(self) -> None:
        self._gpm.close()
        with suppress(self._nvml.NVMLError):  # the driver is gone, and all that it held
            self._nvml.nvmlShutdown()

    def _read_gpu(self, memory_busy: float | None) -> GpuGauges:
        nvml, ask = self._nvml, self._ask
        limit_mw = ask(nvml.nvmlDeviceGetEnforcedPowerLimit)
        metrics = self._gpm.read()
        return GpuGauges(
            memory_busy=memory_busy,
            sm_clock_mhz=ask(nvml.nvmlDeviceGetClockInfo, nvml.NVML_CLOCK_SM),
            max_sm_clock_mhz=ask(nvml.nvmlDeviceGetMaxClockInfo, nvml.NVML_CLOCK_SM),
            memory_clock_mhz=ask(nvml.nvmlDeviceGetClockInfo, nvml.NVML_CLOCK_MEM),
            temperature_c=ask(nvml.nvmlDeviceGetTemperature, nvml.NVML_TEMPERATURE_GPU),
            power_limit_w=None if limit_mw is None else limit_mw / 1000,
            slowed_by=self._slowed_by(),
            sm_busy=metrics.get(nvml.NVML_GPM_METRIC_SM_UTIL),
            sm_occupancy=metrics.get(nvml.NVML_GPM_METRIC_SM_OCCUPANCY),
            tensor_busy=metrics.get(nvml.NVML_GPM_METRIC_ANY_TENSOR_UTIL),
            dram_busy=metrics.get(nvml.NVML_GPM_METRIC_DRAM_BW_UTIL),
        )

    def _power_w(self) -> float | None:
        """What the device draws at the moment, or, where it does not say, lately on average."""
        field = self._nvml.NVML_FI_DEV_POWER_INSTANT
        values = self._ask(self._nvml.nvmlDeviceGetFieldValues, [field])
        if values is not None and values[0].nvmlReturn == self._nvml.NVML_SUCCESS:
            return float(values[0].value.uiVal) / 1000
        power_mw = self._ask(self._nvml.nvmlDeviceGetPowerUsage)
        return None if power_mw is None else power_mw / 1000

    def _slowed_by(self) -> tuple[str, ...]:
        """Why the clocks are not higher; drivers before 535 know the older name alone."""
        mask = self._ask(self._nvml.nvmlDeviceGetCurrentClocksEventReasons)
        if mask is None:
            mask = self._ask(self._nvml.nvmlDeviceGetCurrentClocksThrottleReasons)
        return name_reasons(mask or 0)

    def _ask(self, question: Callable[..., T], *more: object) -> T | None:
        """One answer, or None where this device or driver has none."""
        try:
            return question(self._handle, *more)
        except self._nvml.NVMLError:
            return None
