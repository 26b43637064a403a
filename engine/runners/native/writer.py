"""`Writer`: stores keys and values in a layer's cache in one call, whatever their strides."""

from __future__ import annotations

import torch

from engine.runners.native.kernels import Kernels, WriteArguments


class Writer:
    """Writes to the cache of one layer.

    Args:
        entries: [blocks, block_size, kv_heads, key_dim + value_dim], a key before its value.
    """

    def __init__(self, kernels: Kernels, entries: torch.Tensor, key_dim: int) -> None:
        self._kernel = kernels.write
        self._item = entries.element_size()
        self._arguments = WriteArguments(
            entries=entries.data_ptr(),
            num_kv_heads=entries.shape[2],
            key_size=key_dim * self._item,
            value_size=(entries.shape[3] - key_dim) * self._item,
        )

    def write(self, slots: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> None:
        """Store T tokens, [T, kv_heads, dim], at `slots`, [T]; a head's numbers lie in a row."""
        arguments, item = self._arguments, self._item
        arguments.key, arguments.value = key.data_ptr(), value.data_ptr()
        arguments.slots, arguments.num_tokens = slots.data_ptr(), slots.shape[0]
        arguments.key_token_stride = key.stride(0) * item
        arguments.key_head_stride = key.stride(1) * item
        arguments.value_token_stride = value.stride(0) * item
        arguments.value_head_stride = value.stride(1) * item
        self._kernel(arguments)
