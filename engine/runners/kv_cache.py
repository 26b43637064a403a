"""`KvCache`: the memory behind the block ids, one tensor a layer."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
import torch

from engine.runners.native.kernels import Kernels
from engine.runners.native.writer import Writer


@dataclass(frozen=True, slots=True)
class LayerShape:
    """What one token takes in one layer; keys and values may differ in size."""

    num_kv_heads: int
    key_dim: int
    value_dim: int
    dtype: torch.dtype

    @property
    def bytes_per_token(self) -> int:
        return self.num_kv_heads * (self.key_dim + self.value_dim) * self.dtype.itemsize


class LayerCache:
    """Each token's key and, behind it, its value: one gather then fetches both.

    Args:
        kernels: of our own for a CPU, to write with.

    Attributes:
        entries: [blocks, block_size, kv_heads, key_dim + value_dim].
    """

    def __init__(
        self,
        shape: LayerShape,
        num_blocks: int,
        block_size: int,
        device: torch.device,
        kernels: Kernels | None = None,
    ) -> None:
        self.shape = shape
        size = (num_blocks, block_size, shape.num_kv_heads, shape.key_dim + shape.value_dim)
        self.entries = _zeros(size, shape.dtype, device)
        self._by_slot = self.entries.flatten(0, 1)
        self._writer = None if kernels is None else Writer(kernels, self.entries, shape.key_dim)

    def write(self, slots: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> None:
        """Store the keys and values of T tokens, [T, kv_heads, dim], at `slots`, [T]."""
        if self._writer is not None and key.stride(2) == value.stride(2) == 1:
            self._writer.write(slots, key, value)
        else:
            self._by_slot.index_copy_(0, slots, torch.cat((key, value), dim=-1))


class KvCache:
    """The cache of every layer, with one scratch block behind the last one.

    Args:
        shapes: by the layer's index in the model.
        kernels: of our own for a CPU, to write with.
    """

    def __init__(
        self,
        shapes: dict[int, LayerShape],
        num_blocks: int,
        block_size: int,
        device: torch.device,
        kernels: Kernels | None = None,
    ) -> None:
        self.num_blocks = num_blocks
        self.block_size = block_size
        self.layers = {
            index: LayerCache(shape, num_blocks + 1, block_size, device, kernels)
            for index, shape in shapes.items()
        }

    @property
    def scratch_slot(self) -> int:
        """The first slot behind the last block: padding writes there, nobody reads it."""
        return self.num_blocks * self.block_size

    @property
    def num_bytes(self) -> int:
        num_tokens = (self.num_blocks + 1) * self.block_size
        return num_tokens * sum(layer.shape.bytes_per_token for layer in self.layers.values())


def _zeros(size: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Zeroed memory; on a CPU, pages that nobody has touched take none.

    Never uninitialised: a masked key counts zero times, and zero times a stray NaN is NaN.
    """
    if device.type != "cpu":
        return torch.zeros(size, dtype=dtype, device=device)
    return torch.from_numpy(np.zeros(prod(size) * dtype.itemsize, np.uint8)).view(dtype).view(size)
