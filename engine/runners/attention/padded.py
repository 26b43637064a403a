"""Attention of one query a row over block tables that lie in tensors: `PaddedDecode`.

Every row gathers as many blocks as its table has columns, whatever its length, so that no shape
depends on what a tensor holds: a CUDA graph can hold it, and whoever captures keeps the tables
narrow.

Shapes: B rows with M blocks each, C cached tokens in them; H query heads in groups of G that share
one of K key/value heads; D dimensions a head.
"""

from __future__ import annotations

import torch

from engine.runners.attention.attend import AttentionOptions, attend
from engine.runners.attention.attention_batch import DecodeBatch
from engine.runners.kv_cache import LayerCache


class PaddedDecode:
    """One decoding pass, for all layers."""

    def __init__(self, decode: DecodeBatch, block_size: int) -> None:
        self._blocks = decode.block_tables.flatten()
        self._kv_lens = decode.kv_lens[:, None]
        self._num_keys = decode.block_tables.shape[1] * block_size
        self._masks: dict[int | None, torch.Tensor] = {}

    def attend(
        self, query: torch.Tensor, cache: LayerCache, options: AttentionOptions
    ) -> torch.Tensor:
        """Attend for one layer; [B, H, D] in, [B, H, D] out."""
        num_rows, shape = query.shape[0], cache.shape
        entries = cache.entries.index_select(0, self._blocks)
        entries = entries.view(num_rows, self._num_keys, *entries.shape[2:]).transpose(1, 2)
        keys, values = torch.split(entries, [shape.key_dim, shape.value_dim], dim=3)
        grouped = query.reshape(num_rows, shape.num_kv_heads, -1, query.shape[2])
        mask = self._mask(options.window, query.dtype)
        return attend(grouped, keys, values, mask, options).flatten(1, 2)

    def _mask(self, window: int | None, dtype: torch.dtype) -> torch.Tensor:
        """0 where a row sees a key, else -inf, [B, 1, 1, C]; the same for all layers alike."""
        mask = self._masks.get(window)
        if mask is None:
            keys = torch.arange(self._num_keys, device=self._kv_lens.device)
            is_hidden = keys >= self._kv_lens
            if window is not None:
                is_hidden |= keys < self._kv_lens - window
            mask = torch.zeros_like(is_hidden, dtype=dtype).masked_fill_(is_hidden, float("-inf"))
            mask = self._masks[window] = mask[:, None, None]
        return mask
