"""`Gpm`: NVIDIA's GPU performance monitoring, on Hopper and later.

A metric is what happened between two samples, so the newest sample is kept for the next reading.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any


class Gpm:
    """Shares of the device's units in use since the reading before.

    Args:
        handle: of the device, as NVML gives it.
        nvml: the functions of NVML.
    """

    def __init__(self, handle: Any, nvml: Any) -> None:
        self._handle = handle
        self._nvml = nvml
        self._metrics = (
            nvml.NVML_GPM_METRIC_SM_UTIL,
            nvml.NVML_GPM_METRIC_SM_OCCUPANCY,
            nvml.NVML_GPM_METRIC_ANY_TENSOR_UTIL,
            nvml.NVML_GPM_METRIC_DRAM_BW_UTIL,
        )
        self._is_supported = self._ask_support()
        self._samples: list[Any] = []  # two that take turns, the newer one last
        self._has_sample = False

    def read(self) -> dict[int, float]:
        """The metrics by id, 0 to 1; none where the device has none, or at the first reading."""
        if not self._is_supported:
            return {}
        try:
            return self._read()
        except self._nvml.NVMLError:  # such as under MIG, or while another profiler has them
            self.close()
            return {}

    def close(self) -> None:
        """Free the samples; nothing is read any more."""
        self._is_supported = False
        while self._samples:
            with suppress(self._nvml.NVMLError):  # the device is lost, and its memory with it
                self._nvml.nvmlGpmSampleFree(self._samples.pop())

    def _ask_support(self) -> bool:
        try:
            support = self._nvml.nvmlGpmQueryDeviceSupport(self._handle)
        except self._nvml.NVMLError:
            return False
        return bool(support.isSupportedDevice)

    def _read(self) -> dict[int, float]:
        while len(self._samples) < 2:
            self._samples.append(self._nvml.nvmlGpmSampleAlloc())
        self._samples.reverse()
        self._nvml.nvmlGpmSampleGet(self._handle, self._samples[-1])
        had_sample, self._has_sample = self._has_sample, True
        return self._compare() if had_sample else {}

    def _compare(self) -> dict[int, float]:
        """What happened between the two samples."""
        request = self._nvml.c_nvmlGpmMetricsGet_t()
        request.version = self._nvml.NVML_GPM_METRICS_GET_VERSION
        request.numMetrics = len(self._metrics)
        request.sample1, request.sample2 = self._samples
        for place, metric in enumerate(self._metrics):
            request.metrics[place].metricId = metric
        answer = self._nvml.nvmlGpmMetricsGet(request)
        known = answer.metrics[: len(self._metrics)]
        return {
            metric.metricId: metric.value / 100
            for metric in known
            if metric.nvmlReturn == self._nvml.NVML_SUCCESS
        }
