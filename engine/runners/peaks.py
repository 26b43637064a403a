"""`measure_peaks`: what a device does at best, tried once at start in a tenth of a second."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache

import torch

Clock = Callable[[], float]

COPY_BYTES = {"cuda": 2**29}  # far more than any cache holds
MATRIX = {"cuda": 8192}  # large enough to fill the device
SMALL_COPY_BYTES, SMALL_MATRIX = 2**26, 768
ROUNDS = 3  # the best counts: whatever disturbs can only make it slower


@cache
def measure_peaks(
    device: torch.device,
    dtype: torch.dtype,
    num_threads: int,
) -> tuple[float, float]:
    """Time a copy and a matrix product, once in a process.

    Args:
        num_threads: that torch has on the CPU; with others a CPU's peaks are others.

    Returns:
        Bytes a second to and from memory, and operations a second in that dtype; (0, 0) where
        the device has no memory left to try.
    """
    try:
        clock = pass_clock(device.type, num_threads)
        return _measure_bandwidth(device, clock), _measure_flops(device, dtype, clock)
    except torch.OutOfMemoryError:
        return 0.0, 0.0


def pass_clock(device_type: str, num_threads: int) -> Clock:
    """What to time a pass with.

    On a CPU with one thread the CPU time of this process: that is what a pass takes on an idle
    machine, whoever else runs on this one.
    """
    return time.process_time if device_type == "cpu" and num_threads == 1 else time.perf_counter


def _measure_bandwidth(device: torch.device, clock: Clock) -> float:
    num_bytes = COPY_BYTES.get(device.type, SMALL_COPY_BYTES)
    source = torch.zeros(num_bytes, dtype=torch.uint8, device=device)
    target = torch.zeros_like(source)
    return 2 * num_bytes / _best(device, clock, lambda: target.copy_(source))


def _measure_flops(device: torch.device, dtype: torch.dtype, clock: Clock) -> float:
    size = MATRIX.get(device.type, SMALL_MATRIX)
    left = torch.ones(size, size, dtype=dtype, device=device)
    return 2 * size**3 / _best(device, clock, lambda: left @ left)


def _best(device: torch.device, clock: Clock, work: Callable[[], object]) -> float:
    """Seconds of the fastest round, after one that does not count."""
    seconds = []
    for _ in range(ROUNDS + 1):
        _wait_for(device)
        began = clock()
        work()
        _wait_for(device)
        seconds.append(clock() - began)
    return min(seconds[1:])


def _wait_for(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()
