"""Attention by gathering each row's blocks and calling torch's fused kernel: `GatherAttention`.

Runs on every device, for any head size, window, softcap and sinks: the reference and the
fallback. Rows attend in groups small enough that a group's gathered keys and values stay in a
CPU's cache. Masks and indices are made once a pass and serve every layer.

Shapes: T tokens in the pass; R rows of N queries and C keys in a piece; H query heads in groups
of G that share one of K key/value heads; D dimensions a head.
"""

from __future__ import annotations

from math import prod

import torch

from engine.runners.attention.attend import AttentionOptions, attend, attend_causal
from engine.runners.attention.attention_batch import DecodeBatch
from engine.runners.attention.padded import PaddedDecode
from engine.runners.attention.pieces import Cutter, Piece
from engine.runners.inputs.pack import Span
from engine.runners.kv_cache import LayerCache

CPU_GROUP_BYTES = 2 * 1024 * 1024
CPU_PADDING_BYTES = 192 * 1024  # of a group; with more, two groups take less time
DEVICE_GROUP_BYTES = 256 * 1024 * 1024


class GatherAttention:
    """Cuts each pass into pieces, once for all layers of one kind, and runs them in turn."""

    name = "grouped gather + sdpa"

    def __init__(self, block_size: int, device: torch.device) -> None:
        self._block_size = block_size
        self._device = device
        is_cpu = device.type == "cpu"
        self._group_bytes = CPU_GROUP_BYTES if is_cpu else DEVICE_GROUP_BYTES
        self._padding_bytes = CPU_PADDING_BYTES if is_cpu else DEVICE_GROUP_BYTES
        self._spans: list[Span] = []
        self._pieces: dict[tuple[int | None, int, bool], list[Piece]] = {}
        self._workspace = Workspace()
        self._decode: PaddedDecode | None = None

    def begin(self, spans: list[Span]) -> None:
        self._spans = spans
        self._pieces.clear()
        self._decode = None

    def begin_decode(self, decode: DecodeBatch) -> None:
        self._decode = PaddedDecode(decode, self._block_size)

    def attend(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        cache: LayerCache,
        options: AttentionOptions,
    ) -> torch.Tensor:
        if self._decode:
            return self._decode.attend(query, cache, options)
        kind = (options.window, query.shape[1] // key.shape[1], options.is_plain)
        pieces = self._pieces.get(kind)
        if pieces is None:
            cutter = self._cutter(query, key, cache, options)
            pieces = self._pieces[kind] = cutter.cut(self._spans)
        outputs = [self._run(piece, query, key, value, cache, options) for piece in pieces]
        return outputs[0] if len(outputs) == 1 else torch.cat(outputs)

    def _cutter(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        cache: LayerCache,
        options: AttentionOptions,
    ) -> Cutter:
        longest = max(span.kv_len for span in self._spans)
        is_windowed = options.window is not None and options.window < longest
        return Cutter(
            block_size=self._block_size,
            window=options.window if is_windowed else None,
            num_groups=query.shape[1] // key.shape[1],
            group_tokens=self._group_bytes // cache.shape.bytes_per_token,
            padding_tokens=self._padding_bytes // cache.shape.bytes_per_token,
            needs_masks=not options.is_plain,
            dtype=query.dtype,
            device=self._device,
        )

    def _run(
        self,
        piece: Piece,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        cache: LayerCache,
        options: AttentionOptions,
    ) -> torch.Tensor:
        """Attend for one piece; [T, H, D] in, [R * N, H, D] out."""
        rows, tokens = piece.num_rows, piece.tokens
        if piece.blocks is None:
            keys, values = by_head(key[tokens], rows), by_head(value[tokens], rows)
        else:
            entries = by_head(self._workspace.gather(cache.entries, piece.blocks), rows)
            keys, values = torch.split(entries, [key.shape[2], value.shape[2]], dim=3)
        if piece.mask is None:
            output = attend_causal(by_head(query[tokens], rows), keys, values, options)
            return output.transpose(1, 2).flatten(0, 1)
        grouped = by_group(query[tokens], piece, key.shape[1])
        return from_groups(attend(grouped, keys, values, piece.mask, options), piece.width)


class Workspace:
    """Memory to gather into, used again and again: fresh pages cost more than the copy."""

    def __init__(self) -> None:
        self._memory = torch.empty(0)

    def gather(self, entries: torch.Tensor, blocks: torch.Tensor) -> torch.Tensor:
        """The blocks with these ids, one behind the other; they last until the next call."""
        size = (blocks.shape[0], *entries.shape[1:])
        num_values = prod(size)
        if self._memory.numel() < num_values or self._memory.dtype != entries.dtype:
            self._memory = entries.new_empty(num_values)
        return torch.index_select(entries, 0, blocks, out=self._memory[:num_values].view(size))


def by_head(tensor: torch.Tensor, num_rows: int) -> torch.Tensor:
    """[R * C, K, D], or blocks of it, as [R, K, C, D]."""
    return tensor.view(num_rows, -1, *tensor.shape[-2:]).transpose(1, 2)


def by_group(query: torch.Tensor, piece: Piece, num_kv_heads: int) -> torch.Tensor:
    """[R * N, H, D] as [R, K, G * N, D]."""
    if piece.width == 1:
        return query.reshape(piece.num_rows, num_kv_heads, -1, query.shape[-1])
    query = query.reshape(piece.num_rows, piece.width, num_kv_heads, -1, query.shape[-1])
    return query.permute(0, 2, 3, 1, 4).flatten(2, 3)


def from_groups(output: torch.Tensor, width: int) -> torch.Tensor:
    """[R, K, G * N, D] as [R * N, H, D]."""
    if width == 1:
        return output.flatten(1, 2)
    output = output.view(*output.shape[:2], -1, width, output.shape[-1])  # [R, K, G, N, D]
    return output.permute(0, 3, 1, 2, 4).flatten(2, 3).flatten(0, 1)
