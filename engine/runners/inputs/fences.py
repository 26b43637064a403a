"""`Fence`: a point in the work of a device that the host can wait for."""

from __future__ import annotations

from typing import Protocol

import torch


class Fence(Protocol):
    """Marks how far the device has to come."""

    def record(self) -> None:
        """Put it behind all work that the device was given so far."""
        ...

    def wait(self) -> None:
        """Block until the device has come so far; at once if it was never recorded."""
        ...


class CudaFence:
    """An event of CUDA; while it waits, other threads run."""

    def __init__(self) -> None:
        self._event = torch.cuda.Event()  # type: ignore[no-untyped-call]

    def record(self) -> None:
        self._event.record()

    def wait(self) -> None:
        self._event.synchronize()


class NoFence:
    """For a device that has done its work when a call returns."""

    def record(self) -> None:
        """Nothing to mark."""

    def wait(self) -> None:
        """Nothing to wait for."""


def make_fence(device: torch.device) -> Fence:
    """The kind of fence that the device has."""
    return CudaFence() if device.type == "cuda" else NoFence()


def host_memory(num_bytes: int, device: torch.device) -> torch.Tensor:
    """Memory of the host that the device copies from and to without the host's help, [bytes]."""
    return torch.zeros(num_bytes, dtype=torch.uint8, pin_memory=device.type == "cuda")
