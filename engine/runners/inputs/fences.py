"""`Fence`: a point in the work of a device that the host can wait for."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

import torch

LOOK_SECONDS = 0.0002  # between two looks at the device where something else is watched too

Check = Callable[[], None]


class Fence(Protocol):
    """Marks how far the device has to come."""

    def record(self) -> None:
        """Put it behind all work that the device was given so far."""
        ...

    def wait(self) -> None:
        """Block until the device has come so far; at once if it was never recorded."""
        ...


class CudaFence:
    """An event of CUDA; while it waits, other threads run.

    Args:
        check: raises if the device will never come so far, as when a process is gone that it
            exchanges tensors with: NCCL itself would wait until its timeout.
    """

    def __init__(self, check: Check | None = None) -> None:
        self._event = torch.cuda.Event()  # type: ignore[no-untyped-call]
        self._check = check

    def record(self) -> None:
        self._event.record()

    def wait(self) -> None:
        while self._check and not self._event.query():  # type: ignore[no-untyped-call]
            self._check()
            time.sleep(LOOK_SECONDS)
        self._event.synchronize()


class NoFence:
    """For a device that has done its work when a call returns."""

    def record(self) -> None:
        """Nothing to mark."""

    def wait(self) -> None:
        """Nothing to wait for."""


def copies_alone(device: torch.device) -> bool:
    """Whether the device is left to copy on its own, between it and the host.

    Only CUDA is, whose fences tell when it is done. MPS could be, but its copies then bring wrong
    numbers (github.com/pytorch/pytorch/issues/139550 and 189690).
    """
    return device.type == "cuda"


def make_fence(device: torch.device, check: Check | None = None) -> Fence:
    """The kind of fence that the device has.

    Args:
        check: see `CudaFence`; a device without fences learns of it in the call that fails.
    """
    return CudaFence(check) if copies_alone(device) else NoFence()


def host_memory(num_bytes: int, device: torch.device) -> torch.Tensor:
    """Memory of the host that the device copies from and to without the host's help, [bytes]."""
    return torch.zeros(num_bytes, dtype=torch.uint8, pin_memory=copies_alone(device))
