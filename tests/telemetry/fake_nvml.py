"""A driver made up of pynvml's own structures and errors."""

from __future__ import annotations

from typing import Any

import pynvml


class FakeNvml:
    """Answers as NVML does for one device; what is in `unsupported` is refused, as it refuses.

    Attributes:
        gpm: percent by metric, at each comparison of two samples.
        held: samples allocated and not freed yet.
    """

    def __init__(self, *unsupported: str) -> None:
        self.unsupported = set(unsupported)
        self.gpm = {2: 80.0, 3: 40.0, 5: 12.5, 10: 62.5}
        self.refused_metrics: set[int] = set()
        self.held: list[Any] = []
        self.num_taken = 0
        self.is_open = False
        self.uuid = ""

    def __getattr__(self, name: str) -> Any:
        """Constants, structures and errors are the real ones."""
        return getattr(pynvml, name)

    def _check(self, name: str) -> None:
        assert self.is_open, "asked before nvmlInit or after nvmlShutdown"
        if name in self.unsupported:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)

    def nvmlInit(self) -> None:
        if "nvmlInit" in self.unsupported:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)
        self.is_open = True

    def nvmlShutdown(self) -> None:
        self.is_open = False

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> str:
        self.uuid = uuid
        if "GPU-absent" in uuid:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
        return "handle"

    def nvmlDeviceGetMemoryInfo(self, handle: str) -> Any:
        self._check("memory")
        return pynvml.c_nvmlMemory_t(total=80 << 30, free=60 << 30, used=20 << 30)

    def nvmlDeviceGetUtilizationRates(self, handle: str) -> Any:
        self._check("utilisation")
        return pynvml.c_nvmlUtilization_t(gpu=97, memory=55)

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: str) -> int:
        self._check("energy")
        return 1_234_500

    def nvmlDeviceGetEnforcedPowerLimit(self, handle: str) -> int:
        self._check("limit")
        return 700_000

    def nvmlDeviceGetClockInfo(self, handle: str, kind: int) -> int:
        self._check("clocks")
        return {pynvml.NVML_CLOCK_SM: 1410, pynvml.NVML_CLOCK_MEM: 3201}[kind]

    def nvmlDeviceGetMaxClockInfo(self, handle: str, kind: int) -> int:
        self._check("clocks")
        return {pynvml.NVML_CLOCK_SM: 1980}[kind]

    def nvmlDeviceGetTemperature(self, handle: str, sensor: int) -> int:
        self._check("temperature")
        return 61

    def nvmlDeviceGetCurrentClocksEventReasons(self, handle: str) -> int:
        self._check("event reasons")
        return 0x4 | 0x20

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle: str) -> int:
        self._check("throttle reasons")
        return 0x8

    def nvmlDeviceGetPowerUsage(self, handle: str) -> int:
        self._check("power")
        return 350_000

    def nvmlDeviceGetFieldValues(self, handle: str, fields: list[int]) -> Any:
        self._check("fields")
        values = (pynvml.c_nvmlFieldValue_t * len(fields))()
        assert fields == [pynvml.NVML_FI_DEV_POWER_INSTANT]
        values[0].fieldId = fields[0]
        is_refused = "instant power" in self.unsupported
        values[0].nvmlReturn = pynvml.NVML_ERROR_NOT_SUPPORTED if is_refused else 0
        values[0].value.uiVal = 412_000
        return values

    def nvmlGpmQueryDeviceSupport(self, handle: str) -> Any:
        self._check("gpm function")
        return pynvml.c_nvmlGpmSupport_t(1, "gpm" not in self.unsupported)

    def nvmlGpmSampleAlloc(self) -> Any:
        sample = pynvml.c_nvmlGpmSample_t(pynvml.struct_c_nvmlGpmSample_t())
        self.held.append(sample)
        return sample

    def nvmlGpmSampleGet(self, handle: str, sample: Any) -> Any:
        self._check("gpm samples")
        self.num_taken += 1
        return sample

    def nvmlGpmSampleFree(self, sample: Any) -> None:
        self.held = [each for each in self.held if each is not sample]

    def nvmlGpmMetricsGet(self, request: Any) -> Any:
        self._check("gpm metrics")
        assert request.version == pynvml.NVML_GPM_METRICS_GET_VERSION
        for metric in request.metrics[: request.numMetrics]:
            metric.value = self.gpm[metric.metricId]
            is_refused = metric.metricId in self.refused_metrics
            metric.nvmlReturn = pynvml.NVML_ERROR_NOT_SUPPORTED if is_refused else 0
        return request
