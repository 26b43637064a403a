"""`Peaks`: what a device could do at best, by its data sheet or as it was measured at start."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from engine.config import ConfigError
from engine.cost.several import split_several
from engine.events import EngineInfo
from engine.hardware.devices import device_files, read_device

NO_DATA_SHEET = ("cpu",)  # its file holds what was once measured elsewhere, no peaks
OTHER_KINDS = {"pcie", "nvl", "laptop", "d", "mig"}  # of the same name, but slower


@dataclass(frozen=True, slots=True)
class Peaks:
    """Of all devices that share a model, together.

    Attributes:
        bandwidth: bytes a second to and from memory.
        flops: operations a second in the dtype of the model.
        source: where they are from, in words.
    """

    bandwidth: float
    flops: float
    source: str = "data sheet"


def find_peaks(info: EngineInfo) -> Peaks | None:
    """The peaks of the device that an engine runs on, or None where they are not known.

    A data sheet goes before a measurement, since shares of its numbers are what others tell.
    """
    if sheet := _find_sheet(info):
        return sheet
    if info.peak_bandwidth and info.peak_flops:
        return Peaks(info.peak_bandwidth, info.peak_flops, "measured at start")
    return None


def _find_sheet(info: EngineInfo) -> Peaks | None:
    name, count = split_several(info.device)
    for stem, path in device_files().items():
        if stem not in NO_DATA_SHEET and (peaks := _read(path, stem, name, info.dtype)):
            return Peaks(peaks.bandwidth * count, peaks.flops * count)
    return None


def _read(path: Path, stem: str, name: str, dtype: str) -> Peaks | None:
    """The peaks in a file, if it is of the device of that name; a broken file is of none."""
    try:
        device = read_device(path)
    except ConfigError:
        return None
    if dtype not in device.tflops or not (device.name == name or _is_named(stem, name)):
        return None
    return Peaks(device.bandwidth_gb_s * 1e9, device.tflops[dtype] * 1e12)


def _is_named(stem: str, name: str) -> bool:
    """Whether a vendor's name, such as `NVIDIA A100-SXM4-80GB`, is that of a file, `a100-80`."""
    words = set(re.split(r"[^a-z0-9]+", name.lower()))
    wanted = stem.lower().split("-")
    return not words & OTHER_KINDS and all(w in words or f"{w}gb" in words for w in wanted)
