"""`TritonAttention`: attention over the paged cache by the project's own Triton kernels.

One launch a layer for decoding rows and chunks together, and a second where a context is long
enough to be split; no gathered copy of the cache, no mask in memory.

Shapes: T tokens in the pass; H query heads; D dimensions of a key.
"""

from __future__ import annotations

import torch

from engine.runners.attention.attend import AttentionOptions
from engine.runners.attention.attention_batch import (
    AttentionBatch,
    DecodeBatch,
    batch_decode,
    batch_spans,
)
from engine.runners.inputs.pack import Span
from engine.runners.kv_cache import LayerCache
from engine.runners.triton.launching import launching
from engine.runners.triton.paged_kernel import attend_kernel, combine_kernel
from engine.runners.triton.paged_launch import (
    LayerKind,
    Splitting,
    TileChoice,
    attend_constants,
    combine_constants,
    count_splits,
    count_tiles,
    count_workers,
    kind_of,
)
from engine.runners.triton.tiles import Tiles, next_power_of_2
from engine.runners.triton.write_kernel import write_kernel


class TritonAttention:
    """Attends by kernel, in tiles that a fixed table chooses.

    Args:
        splitting: None for the default.
        choose_tiles: in place of the table.
        num_workers: programs on the splits of one row; None for what fills the device. It changes
            no result.
    """

    def __init__(
        self,
        block_size: int,
        device: torch.device,
        *,
        splitting: Splitting | None = None,
        choose_tiles: TileChoice = LayerKind.tiles,
        num_workers: int | None = None,
    ) -> None:
        self._is_interpreted = device.type != "cuda"
        self.name = "paged triton" + (" (interpreted)" if self._is_interpreted else "")
        self._block_size = block_size
        self._device = device
        self._splitting = splitting or Splitting()
        self._choose_tiles = choose_tiles
        self._num_workers = num_workers
        self._num_sms = 1 if self._is_interpreted else count_sms(device)
        self._batch: AttentionBatch | None = None

    def begin(self, spans: list[Span]) -> None:
        self._batch = batch_spans(spans, self._block_size, self._device)

    def begin_decode(self, decode: DecodeBatch) -> None:
        self._batch = batch_decode(decode, self._block_size)

    def attend(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        cache: LayerCache,
        options: AttentionOptions,
    ) -> torch.Tensor:
        batch = self._batch
        assert batch, "begin comes before attend"
        kind = kind_of(cache.shape, query.shape[1], self._block_size, options)
        tiles = self._choose_tiles(kind, is_decode=batch.is_decode)
        num_splits = count_splits(batch, self._splitting, tiles, options.window)
        output = query.new_empty(query.shape[0], query.shape[1], cache.shape.value_dim)
        partial = _partial(batch.num_single, num_splits, output)
        with launching(query):
            self._attend(query, cache, options, output, partial, batch, kind, tiles)
            if num_splits > 1:
                self._combine(options, output, partial, batch, kind, tiles)
        return output

    def write(
        self, cache: LayerCache, slots: torch.Tensor, key: torch.Tensor, value: torch.Tensor
    ) -> None:
        """Store keys and values, [T, K, D], at `slots`, [T], in one launch."""
        shape = cache.shape
        key, value = (each if each.stride(2) == 1 else each.contiguous() for each in (key, value))
        with launching(key):
            write_kernel[(key.shape[0], shape.num_kv_heads)](
                cache.entries,
                slots,
                key,
                value,
                *key.stride()[:2],
                *value.stride()[:2],
                NUM_KV_HEADS=shape.num_kv_heads,
                KEY_DIM=shape.key_dim,
                VALUE_DIM=shape.value_dim,
                KEY_PAD=next_power_of_2(shape.key_dim),
                VALUE_PAD=next_power_of_2(shape.value_dim),
                num_warps=1,
            )

    def _attend(
        self,
        query: torch.Tensor,
        cache: LayerCache,
        options: AttentionOptions,
        output: torch.Tensor,
        partial: tuple[torch.Tensor, ...],
        batch: AttentionBatch,
        kind: LayerKind,
        tiles: Tiles,
    ) -> None:
        """Attend; what is split goes to `partial`, the rest is done."""
        if query.stride(2) != 1:
            query = query.contiguous()
        keys, values = torch.split(cache.entries, [kind.shape.key_dim, kind.shape.value_dim], 3)
        num_splits = partial[0].shape[2]
        num_tiles, num_kv_heads = count_tiles(batch, kind, tiles), kind.shape.num_kv_heads
        workers = self._num_workers or count_workers(
            num_tiles * num_kv_heads, num_splits, self._num_sms
        )
        attend_kernel[(num_tiles, num_kv_heads, workers)](
            query,
            keys,
            values,
            output,
            *partial,
            batch.block_tables,
            batch.kv_lens,
            batch.num_computed,
            batch.query_starts,
            options.sinks,
            batch.num_rows,
            batch.num_single,
            batch.block_tables.stride(0),
            num_splits,
            options.window or 0,
            query.shape[2] ** -0.5 if options.scaling is None else options.scaling,
            options.softcap or 1.0,
            *query.stride()[:2],
            *cache.entries.stride()[:3],
            **attend_constants(
                kind,
                tiles,
                self._splitting,
                is_decode=batch.is_decode,
                is_interpreted=self._is_interpreted,
            ),
            num_warps=tiles.num_warps,
            num_stages=tiles.num_stages,
        )

    def _combine(
        self,
        options: AttentionOptions,
        output: torch.Tensor,
        partial: tuple[torch.Tensor, ...],
        batch: AttentionBatch,
        kind: LayerKind,
        tiles: Tiles,
    ) -> None:
        """Join the splits of each row that has more than one."""
        combine_kernel[(batch.num_single, kind.num_heads)](
            output,
            *partial,
            batch.kv_lens,
            options.sinks,
            partial[0].shape[2],
            options.window or 0,
            **combine_constants(kind, tiles, self._splitting),
        )


def count_sms(device: torch.device) -> int:
    """Streaming multiprocessors of a CUDA device."""
    num_sms: int = torch.cuda.get_device_properties(device).multi_processor_count
    return num_sms


def _partial(num_rows: int, num_splits: int, output: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Room for each split's sum of values, highest score and sum of weights, in float32.

    Made for each layer anew: within a graph the memory is the graph's own.
    """
    size = (num_rows if num_splits > 1 else 0, output.shape[1], num_splits)
    return (
        output.new_empty(*size, output.shape[2], dtype=torch.float32),
        output.new_empty(size, dtype=torch.float32),
        output.new_empty(size, dtype=torch.float32),
    )
