"""`VarlenAttention`: attention over the paged cache by torch's own FlashAttention.

For where Triton is not: it does less, and only newer torch has it. Rows attend with no split of
their contexts, since paged splits give NaN (github.com/pytorch/pytorch/issues/194167).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

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


class PagedVarlen(Protocol):
    """`torch.nn.attention.varlen.varlen_attn`, as far as it is used here.

    The last query of a row stands at the row's last key, and the others before it.
    """

    def __call__(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        cu_seq_q: torch.Tensor,
        cu_seq_k: None,
        max_q: int,
        max_k: int,
        *,
        scale: float | None,
        window_size: tuple[int, int],
        enable_gqa: bool,
        seqused_k: torch.Tensor,
        block_table: torch.Tensor,
        num_splits: int,
    ) -> torch.Tensor:
        """Attend: [T, H, D] queries, keys and values by block."""
        ...


class VarlenAttention:
    """Attends by `varlen_attn`.

    Args:
        varlen_attn: torch's, where it has the arguments for a paged cache.
    """

    name = "paged varlen"

    def __init__(self, block_size: int, device: torch.device, varlen_attn: PagedVarlen) -> None:
        self._block_size = block_size
        self._device = device
        self._varlen_attn = varlen_attn
        self._batch: AttentionBatch | None = None

    def begin(self, spans: list[Span]) -> None:
        rows = [row for span in spans for row in without_padding(span)]
        self._batch = batch_spans(rows, self._block_size, self._device)

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
        keys, values = torch.split(cache.entries, [cache.shape.key_dim, cache.shape.value_dim], 3)
        return self._varlen_attn(
            query,
            keys,
            values,
            batch.query_starts,
            None,
            batch.max_query_len,
            batch.max_kv_len,
            scale=options.scaling,
            window_size=(-1 if options.window is None else options.window - 1, 0),
            enable_gqa=query.shape[1] != cache.shape.num_kv_heads,
            seqused_k=batch.kv_lens,
            block_table=batch.block_tables,
            num_splits=1,
        )


def without_padding(span: Span) -> Iterator[Span]:
    """The row alone, and its padding, whose results nobody reads, as a row behind it."""
    num_live = max(1, span.kv_len - span.num_computed)
    yield Span(span.start, num_live, span.num_computed, span.kv_len, span.block_table)
    if num_padding := span.num_tokens - num_live:
        start, past = span.start + num_live, max(0, span.kv_len - num_padding)
        yield Span(start, num_padding, past, span.kv_len, span.block_table)
