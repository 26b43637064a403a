"""What attention must know of a pass, in tensors: `AttentionBatch`, and `DecodeBatch` for graphs.

Shapes: R rows, T tokens, B rows of a captured pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

import numpy as np
import numpy.typing as npt
import torch

from engine.runners.inputs.pack import Span


@dataclass(frozen=True, slots=True)
class DecodeBatch:
    """One token a row, in tensors of the caller, who may refill them between replays of a graph.

    Nothing else is read while such a pass attends, and no shape depends on what they hold.

    Attributes:
        block_tables: [B, max_blocks] in int32; entries behind a row's context are never read.
        kv_lens: [B] in int32, this pass's token counted; a row of 0 attends to nothing and gets
            zeros.
        query_starts: [B + 1] in int32: 0, 1, ... B.
    """

    block_tables: torch.Tensor
    kv_lens: torch.Tensor
    query_starts: torch.Tensor


@dataclass(frozen=True, slots=True)
class AttentionBatch:
    """The rows of a pass.

    Token i of a row stands at position `min(num_computed + i, kv_len - 1)`, as in `Span`.

    Attributes:
        block_tables: [R, most blocks of a row] in int32.
        kv_lens, num_computed: [R] in int32.
        query_starts: index of each row's first token, and T behind them, [R + 1] in int32.
        num_tokens: T.
        num_single: so many rows from the first on have one token.
        max_query_len: tokens of the longest row in this pass.
        max_kv_len: of any row, or what its block table could hold.
    """

    block_tables: torch.Tensor
    kv_lens: torch.Tensor
    num_computed: torch.Tensor
    query_starts: torch.Tensor
    num_tokens: int
    num_single: int
    max_query_len: int
    max_kv_len: int

    @property
    def num_rows(self) -> int:
        return self.kv_lens.shape[0]

    @property
    def is_decode(self) -> bool:
        """Whether every row has one token."""
        return self.num_single == self.num_rows


def batch_spans(spans: list[Span], block_size: int, device: torch.device) -> AttentionBatch:
    """Describe the rows of a pass, with one copy to the device."""
    num_rows = len(spans)
    num_blocks = [-(-span.kv_len // block_size) for span in spans]
    width = max(num_blocks)
    host = np.zeros(num_rows * (width + 3) + 1, np.int32)
    table = host[: num_rows * width].reshape(num_rows, width)
    for row, (span, count) in enumerate(zip(spans, num_blocks, strict=True)):
        table[row, :count] = span.block_table[:count]
    lens, computed, starts = np.split(host[num_rows * width :], [num_rows, 2 * num_rows])
    lens[:] = [span.kv_len for span in spans]
    computed[:] = [span.num_computed for span in spans]
    num_tokens = spans[-1].start + spans[-1].num_tokens
    starts[:] = [*(span.start for span in spans), num_tokens]
    sizes = [num_rows * width, num_rows, num_rows, num_rows + 1]
    tables, kv_lens, num_computed, query_starts = torch.split(_to_device(host, device), sizes)
    return AttentionBatch(
        block_tables=tables.view(num_rows, width),
        kv_lens=kv_lens,
        num_computed=num_computed,
        query_starts=query_starts,
        num_tokens=num_tokens,
        num_single=sum(1 for _ in takewhile(lambda span: span.num_tokens == 1, spans)),
        max_query_len=max(span.num_tokens for span in spans),
        max_kv_len=int(lens.max()),
    )


def batch_decode(decode: DecodeBatch, block_size: int) -> AttentionBatch:
    """Describe rows of one token whose lengths the host does not know; no tensor is made."""
    num_rows, max_blocks = decode.block_tables.shape
    return AttentionBatch(
        block_tables=decode.block_tables,
        kv_lens=decode.kv_lens,
        num_computed=decode.kv_lens,
        query_starts=decode.query_starts,
        num_tokens=num_rows,
        num_single=num_rows,
        max_query_len=1,
        max_kv_len=max_blocks * block_size,
    )


def _to_device(host: npt.NDArray[np.int32], device: torch.device) -> torch.Tensor:
    """Copy without waiting where the device copies by itself."""
    tensor = torch.from_numpy(host)
    if device.type != "cuda":
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)
