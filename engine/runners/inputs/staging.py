"""`Staging`: brings the inputs of a pass to the device in one copy.

The host writes into one of two buffers in turn, so that it can prepare a pass while the device
still copies the one before, where it copies on its own.
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import NamedTuple

import numpy as np
import torch

from engine.runners.inputs.fences import copies_alone, host_memory, make_fence
from engine.runners.inputs.fields import Array, Fields, Shape, lay_out, num_bytes

NUM_BUFFERS = 2
LEAST_BYTES = 4096
MOST_SHAPES = 256  # whose views are kept: those of decoding come again and again
DTYPES = {
    np.dtype(np.int64): torch.int64,
    np.dtype(np.int32): torch.int32,
    np.dtype(np.float32): torch.float32,
}


class Staging:
    """Memory for the inputs of a pass, on both sides."""

    def __init__(self, device: torch.device, capacity: int = LEAST_BYTES) -> None:
        self._device = device
        self._copies_alone = copies_alone(device)
        self._turn = 0
        self._fences = [make_fence(device) for _ in range(NUM_BUFFERS)]
        self._allocate(capacity)

    def open(self, shape: Shape) -> Fields[Array]:
        """The host's side for a pass of that shape, to be filled in; what it holds is stale."""
        self._turn = (self._turn + 1) % NUM_BUFFERS
        self._fences[self._turn].wait()
        return self._views(shape).hosts[self._turn].fields

    def send(self, shape: Shape) -> Fields[torch.Tensor]:
        """Copy what was filled in, and return the device's side.

        The views stay the same from pass to pass, until a larger one moves the memory.
        """
        views = self._views(shape)
        views.memory.copy_(views.hosts[self._turn].memory, non_blocking=self._copies_alone)
        self._fences[self._turn].record()
        return views.fields

    def _views(self, shape: Shape) -> _Views:
        views = self._shapes.get(shape)
        if views is None:
            views = self._shapes[shape] = self._make_views(shape)
        return views

    def _make_views(self, shape: Shape) -> _Views:
        needed = num_bytes(shape)
        if needed > self._memory.numel():
            for fence in self._fences:
                fence.wait()
            self._allocate(max(needed, 2 * self._memory.numel()))
        if len(self._shapes) == MOST_SHAPES:
            self._shapes.clear()
        hosts = [host[:needed] for host in self._hosts]
        return _Views(
            [_HostView(host, lay_out(shape, partial(_view_host, host))) for host in hosts],
            self._memory[:needed],
            lay_out(shape, partial(_view_device, self._memory)),
        )

    def _allocate(self, capacity: int) -> None:
        self._hosts = [host_memory(capacity, self._device) for _ in range(NUM_BUFFERS)]
        self._memory = torch.zeros(capacity, dtype=torch.uint8, device=self._device)
        self._shapes: dict[Shape, _Views] = {}


class _HostView(NamedTuple):
    memory: torch.Tensor
    fields: Fields[Array]


class _Views(NamedTuple):
    """The memory of one shape of pass, on both sides, as bytes and as fields."""

    hosts: list[_HostView]
    memory: torch.Tensor
    fields: Fields[torch.Tensor]


def _view_host(
    memory: torch.Tensor, offset: int, dtype: np.dtype[np.generic], size: tuple[int, ...]
) -> Array:
    return np.ndarray(size, dtype, memory.numpy().data, offset)


def _view_device(
    memory: torch.Tensor, offset: int, dtype: np.dtype[np.generic], size: tuple[int, ...]
) -> torch.Tensor:
    count = prod(size) * dtype.itemsize
    return memory[offset : offset + count].view(DTYPES[dtype]).view(size)
