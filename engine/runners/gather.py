"""Attention by gathering each row's blocks and calling torch's fused kernel: `GatherAttention`.

Runs on every device, for any head size, window, softcap and sinks: the reference and the
fallback. Rows attend in groups small enough that a group's gathered keys and values stay in a
CPU core's cache. Masks and indices are made once a pass and serve every layer.
"""

from __future__ import annotations

import torch

from engine.runners.attend import AttentionOptions
from engine.runners.kv_cache import LayerCache
from engine.runners.pack import Span
from engine.runners.pieces import Cutter, Piece

CPU_GROUP_BYTES = 512 * 1024
DEVICE_GROUP_BYTES = 256 * 1024 * 1024


class GatherAttention:
    """Cuts each pass into pieces, once for all layers of one kind, and runs them in turn."""

    name = "grouped gather + sdpa"

    def __init__(self, block_size: int, device: torch.device) -> None:
        self._block_size = block_size
        self._device = device
        self._group_bytes = CPU_GROUP_BYTES if device.type == "cpu" else DEVICE_GROUP_BYTES
        self._spans: list[Span] = []
        self._pieces: dict[tuple[int | None, int, bool], list[Piece]] = {}

    def begin(self, spans: list[Span]) -> None:
        self._spans = spans
        self._pieces.clear()

    def attend(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        cache: LayerCache,
        options: AttentionOptions,
    ) -> torch.Tensor:
        num_groups = query.shape[1] // key.shape[1]
        kind = (options.window, num_groups, options.is_plain)
        pieces = self._pieces.get(kind)
        if pieces is None:
            pieces = self._pieces[kind] = self._cutter(query, cache, options, num_groups).cut(
                self._spans
            )
        if len(pieces) == 1:
            return pieces[0].run(query, key, value, cache, options)
        return torch.cat([piece.run(query, key, value, cache, options) for piece in pieces])

    def _cutter(
        self,
        query: torch.Tensor,
        cache: LayerCache,
        options: AttentionOptions,
        num_groups: int,
    ) -> Cutter:
        num_longest = max(span.kv_len for span in self._spans)
        is_windowed = options.window is not None and options.window < num_longest
        return Cutter(
            block_size=self._block_size,
            window=options.window if is_windowed else None,
            num_groups=num_groups,
            group_tokens=self._group_bytes // cache.bytes_per_token,
            needs_masks=not options.is_plain,
            dtype=query.dtype,
            device=self._device,
        )
