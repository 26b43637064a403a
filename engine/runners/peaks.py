"""`measure_peaks`: what a device does at best, tried once at start in a tenth of a second."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache

import torch

COPY_BYTES = {"cuda": 2**29}  # far more than any cache holds
MATRIX = {"cuda": 8192}  # large enough to fill the device
SMALL_COPY_BYTES, SMALL_MATRIX = 2**26, 768
ROUNDS = 3  # the best counts: whatever disturbs can only make it slower


@cache
def measure_peaks(
    device: torch.device,
    dtype: torch.dtype,
    num_threads: int,  # noqa: ARG001 -- what was measured with others does not count
) -> tuple[float, float]:
    """Time a copy and a matrix product, once in a process.

    Args:
        num_threads: that torch has on the CPU; with others a CPU's peaks are others.

    Returns:
        Bytes a second to and from memory, and operations a second in that dtype; (0, 0) where
        the device has no memory left to try.
    """
    try:
        return _measure_bandwidth(device), _measure_flops(device, dtype)
    except torch.OutOfMemoryError:
        return 0.0, 0.0


def _measure_bandwidth(device: torch.device) -> float:
    num_bytes = COPY_BYTES.get(device.type, SMALL_COPY_BYTES)
    source = torch.zeros(num_bytes, dtype=torch.uint8, device=device)
    target = torch.zeros_like(source)
    return 2 * num_bytes / _best(device, lambda: target.copy_(source))


def _measure_flops(device: torch.device, dtype: torch.dtype) -> float:
    size = MATRIX.get(device.type, SMALL_MATRIX)
    left = torch.ones(size, size, dtype=dtype, device=device)
    return 2 * size**3 / _best(device, lambda: left @ left)


def _best(device: torch.device, work: Callable[[], object]) -> float:
    """Seconds of the fastest round, after one that does not count."""
    seconds = []
    for _ in range(ROUNDS + 1):
        _wait_for(device)
        began = time.perf_counter()
        work()
        _wait_for(device)
        seconds.append(time.perf_counter() - began)
    return min(seconds[1:])


def _wait_for(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()
