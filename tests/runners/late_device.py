"""A device that is late: what it was given is done when the host waits for it, or is let on.

On a CPU a copy is done when the call returns, so that no missing fence is ever missed. Here each
copy between the host's memory, which is what `host_memory` gave, and the device's stays under way.
What is to come to the host reads as poison before. What goes to the device is there at once, since
the operators that read it are not late; it is looked at again when its turn has come, because what
the host has written over it by then is what a device would have read.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch.overrides import TorchFunctionMode

from engine.runners.inputs import fences, fetching, staging
from engine.runners.inputs.fences import Check

POISON = 0x7F  # in every byte; no vocabulary has such a token

Landing = Callable[[], None]


class LateDevice(TorchFunctionMode):
    """Stands for the device of all that is made after it, while it is entered.

    Attributes:
        num_waits: how often the host had to wait.
        num_given, num_done: copies so far.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.num_waits = 0
        self.num_given = 0
        self.num_done = 0
        self._under_way: deque[Landing] = deque()
        self._owners: dict[int, weakref.ref[torch.Tensor]] = {}
        self._held: list[torch.UntypedStorage] = []  # or other memory might get the address
        for module in (staging, fetching):
            patch.setattr(module, "host_memory", self._make_memory)
            patch.setattr(module, "make_fence", self._make_fence)
            patch.setattr(module, "copies_alone", lambda device: True)

    def advance(self, count: int = 1) -> None:
        """Let the device do so much of what it was given."""
        for _ in range(min(count, len(self._under_way))):
            self.num_done += 1
            self._under_way.popleft()()

    def finish(self) -> None:
        """Let the device do all of it.

        Raises:
            RuntimeError: the host did not wait where it should have.
        """
        self.advance(len(self._under_way))

    def wait_for(self, place: int) -> None:
        """Have the host wait until so many copies are done."""
        if place > self.num_done:
            self.num_waits += 1
            self.advance(place - self.num_done)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func is torch.Tensor.copy_:
            return self._copy(*args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))

    def _copy(
        self, target: torch.Tensor, source: torch.Tensor, non_blocking: bool = False
    ) -> torch.Tensor:
        if self._is_host(target) is self._is_host(source):
            return target.copy_(source)
        if not non_blocking:
            self.num_waits += 1
            self.finish()
            return target.copy_(source)
        self._under_way.append(
            self._to_host(target, source)
            if self._is_host(target)
            else self._to_device(target, source)
        )
        self.num_given += 1
        return target

    def _to_host(self, target: torch.Tensor, source: torch.Tensor) -> Landing:
        host, values = target.numpy(), source.numpy().copy()
        host.view(np.uint8).fill(POISON)

        def land() -> None:
            host[...] = values

        return land

    def _to_device(self, target: torch.Tensor, source: torch.Tensor) -> Landing:
        owner, host = self._owners[address_of(source)], alias(source).numpy()
        target.copy_(source)
        values = host.tobytes()

        def land() -> None:
            if host.tobytes() != values:
                raise RuntimeError("the host wrote over what the device had still to read")
            if owner() is None:
                raise RuntimeError("the host gave back what the device had still to read")

        return land

    def _is_host(self, tensor: torch.Tensor) -> bool:
        return address_of(tensor) in self._owners

    def _make_memory(self, num_bytes: int, device: torch.device) -> torch.Tensor:
        memory = fences.host_memory(num_bytes, device)
        self._owners[address_of(memory)] = weakref.ref(memory)
        self._held.append(memory.untyped_storage())
        return memory

    def _make_fence(self, device: torch.device, check: Check | None = None) -> LateFence:
        return LateFence(self)


class LateFence:
    """A place among the copies."""

    def __init__(self, device: LateDevice) -> None:
        self._device = device
        self._place = 0

    def record(self) -> None:
        self._place = self._device.num_given

    def wait(self) -> None:
        self._device.wait_for(self._place)


def address_of(tensor: torch.Tensor) -> int:
    """Of all its memory, whatever part it is a view of."""
    return tensor.untyped_storage().data_ptr()


def alias(tensor: torch.Tensor) -> torch.Tensor:
    """The same memory, without keeping alive the tensor that it is a view of."""
    place = tensor.storage_offset(), tensor.size(), tensor.stride()
    return torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage(), *place)
