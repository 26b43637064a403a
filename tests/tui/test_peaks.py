"""Which device is which, and what is not claimed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.cost.several import name_several
from engine.events import EngineInfo
from tuiapp.view.peaks import Peaks, find_peaks


def info(device, dtype="bfloat16"):
    return EngineInfo("m", device, dtype, "a", 1000, 4096, 256, 16)


@pytest.mark.parametrize(
    ("device", "dtype", "peaks"),
    [
        ("NVIDIA H200", "bfloat16", Peaks(4800e9, 989.5e12)),
        ("NVIDIA H100 80GB HBM3", "bfloat16", Peaks(3350e9, 989.5e12)),
        ("NVIDIA H100 SXM", "float32", Peaks(3350e9, 67e12)),
        ("NVIDIA A100-SXM4-80GB", "float16", Peaks(2039e9, 312e12)),
        (name_several("NVIDIA H100 SXM", 2), "bfloat16", Peaks(6700e9, 1979e12)),
    ],
)
def test_a_device_with_a_data_sheet_has_peaks(device, dtype, peaks):
    assert find_peaks(info(device, dtype)) == peaks


@pytest.mark.parametrize(
    "device",
    ["cpu", "2-core CPU", "sim", "simulated", "NVIDIA H100 PCIe", "NVIDIA A100-SXM4-40GB", ""],
)
def test_nothing_is_claimed_of_another_device(device):
    assert find_peaks(info(device, "float32")) is None


def test_what_has_no_data_sheet_is_judged_by_what_was_measured():
    measured = replace(info("cpu", "float32"), peak_bandwidth=20e9, peak_flops=90e9)
    assert find_peaks(measured) == Peaks(20e9, 90e9, "measured at start")
    sheet = replace(info("NVIDIA H200"), peak_bandwidth=4e12, peak_flops=700e12)
    assert find_peaks(sheet) == Peaks(4800e9, 989.5e12, "data sheet")


def test_a_dtype_that_the_sheet_does_not_name_has_no_peak():
    assert find_peaks(info("NVIDIA H200", "int8")) is None
