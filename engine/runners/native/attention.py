"""`NativeAttention`: rows with one token attend by our own kernel, over the cache where it lies.

Chunks of prompts, which read each key for many queries, are gathered and left to torch.

Shapes: T tokens in the pass, R rows with one token, H query heads, K key/value heads, D dimensions
a head.
"""

from __future__ import annotations

from itertools import takewhile

import torch

from engine.runners.attention.attend import AttentionOptions
from engine.runners.attention.attention_batch import AttentionBatch, batch_spans
from engine.runners.attention.gather import GatherAttention
from engine.runners.inputs.pack import Span
from engine.runners.kv_cache import LayerCache
from engine.runners.native.kernels import DecodeArguments, Kernels
from engine.runners.native.layout import LANES

MOST_GROUP = 4  # as in attention.cpp


class NativeAttention:
    """Serves rows in the order that `pack` lays them in: those with one token come first."""

    name = "native paged"

    def __init__(self, block_size: int, device: torch.device, kernels: Kernels) -> None:
        self._block_size = block_size
        self._device = device
        self._kernel = kernels.attend
        self._chunks = GatherAttention(block_size, device)
        self._num_rows = 0
        self._has_chunks = False
        self._batch: AttentionBatch | None = None
        self._scores = torch.empty(0)
        self._num_threads = kernels.num_threads
        self._arguments = DecodeArguments(block_size=block_size, num_threads=self._num_threads)

    def begin(self, spans: list[Span]) -> None:
        rows = list(takewhile(lambda span: span.num_tokens == 1, spans))
        self._num_rows = len(rows)
        self._has_chunks = len(rows) < len(spans)
        if self._has_chunks:
            self._chunks.begin(spans[len(rows) :])
        if rows:
            self._begin_rows(rows)

    def attend(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        cache: LayerCache,
        options: AttentionOptions,
    ) -> torch.Tensor:
        if not self._num_rows:
            return self._chunks.attend(query, key, value, cache, options)
        output = query.new_empty((query.shape[0], query.shape[1], cache.shape.value_dim))
        self._attend_rows(query, cache, options, output)
        if self._has_chunks:
            output[self._num_rows :] = self._chunks.attend(query, key, value, cache, options)
        return output

    def _begin_rows(self, rows: list[Span]) -> None:
        batch = self._batch = batch_spans(rows, self._block_size, self._device)
        room = MOST_GROUP * (batch.max_kv_len + LANES)
        if self._scores.numel() < room * self._num_threads:
            self._scores = torch.empty(2 * room * self._num_threads, dtype=torch.float32)
        arguments = self._arguments
        arguments.num_scores = room
        arguments.scores = self._scores.data_ptr()
        arguments.block_tables = batch.block_tables.data_ptr()
        arguments.kv_lens = batch.kv_lens.data_ptr()
        arguments.num_rows, arguments.table_width = batch.block_tables.shape

    def _attend_rows(
        self,
        query: torch.Tensor,
        cache: LayerCache,
        options: AttentionOptions,
        output: torch.Tensor,
    ) -> None:
        if query.stride(2) != 1:
            query = query.contiguous()
        sinks = None if options.sinks is None else options.sinks.float()
        shape, arguments = cache.shape, self._arguments
        arguments.query, arguments.output = query.data_ptr(), output.data_ptr()
        arguments.entries = cache.entries.data_ptr()
        arguments.sinks = None if sinks is None else sinks.data_ptr()
        arguments.row_stride, arguments.head_stride, _ = query.stride()
        arguments.num_heads, arguments.num_kv_heads = query.shape[1], shape.num_kv_heads
        arguments.key_dim, arguments.value_dim = shape.key_dim, shape.value_dim
        arguments.window = options.window or 0
        scaling = options.scaling
        arguments.scaling = shape.key_dim**-0.5 if scaling is None else scaling
        arguments.softcap = options.softcap or 0.0
        self._kernel(arguments)
