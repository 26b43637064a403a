"""Passes over a paged cache with random contents, and what plain attention says of them."""

from __future__ import annotations

import random
from dataclasses import dataclass

import torch

from engine.runners.attention.attend import AttentionOptions
from engine.runners.attention.attention_batch import DecodeBatch
from engine.runners.attention.backend import AttentionBackend
from engine.runners.inputs.pack import Span
from engine.runners.kv_cache import LayerCache, LayerShape

CPU = torch.device("cpu")
SINKS = torch.linspace(-1, 2, 6)  # of as many heads
OPTIONS = {
    "plain": AttentionOptions(),
    "scaled": AttentionOptions(scaling=0.7),
    "windowed": AttentionOptions(window=5),
    "a window of one": AttentionOptions(window=1),
    "a window beyond all": AttentionOptions(window=500),
    "softcapped": AttentionOptions(softcap=1.5),
    "with sinks": AttentionOptions(sinks=SINKS),
    "all at once": AttentionOptions(scaling=0.5, window=7, softcap=2.0, sinks=SINKS),
}


@dataclass(frozen=True)
class Heads:
    """Of a layer."""

    num_heads: int = 6
    num_kv_heads: int = 2
    key_dim: int = 8
    value_dim: int = 12


@dataclass(frozen=True)
class Rows:
    """A row's tokens in the pass, those before it, and how many of the pass's are padding."""

    num_tokens: int
    num_computed: int
    num_padding: int = 0

    @property
    def kv_len(self) -> int:
        return self.num_computed + self.num_tokens - self.num_padding


@dataclass
class Pass:
    """Rows whose keys and values all lie in the cache, among what others left there."""

    spans: list[Span]
    cache: LayerCache
    query: torch.Tensor
    keys: list[torch.Tensor]
    values: list[torch.Tensor]

    @property
    def live(self) -> list[int]:
        """The tokens whose results count: neither padding nor a dead row's."""
        return [
            span.start + token
            for span in self.spans
            for token in range(span.kv_len - span.num_computed)
        ]

    def attend(self, backend: AttentionBackend, options: AttentionOptions) -> torch.Tensor:
        backend.begin(self.spans)
        return self.attend_prepared(backend, options)

    def attend_prepared(self, backend: AttentionBackend, options: AttentionOptions) -> torch.Tensor:
        pairs = list(zip(self.spans, self.keys, self.values, strict=True))
        key = torch.cat([present(span, keys) for span, keys, _ in pairs])
        value = torch.cat([present(span, values) for span, _, values in pairs])
        return backend.attend(self.query, key, value, self.cache, options)


def present(span: Span, context: torch.Tensor) -> torch.Tensor:
    """What the pass itself computes of a context, padding and dead rows with zeros."""
    new = context[span.num_computed :]
    padding = new.new_zeros(span.num_tokens - len(new), *new.shape[1:])
    return torch.cat((new, padding))


def make_pass(
    rows: list[Rows],
    heads: Heads | None = None,
    block_size: int = 4,
    dtype: torch.dtype = torch.float32,
    device: torch.device = CPU,
    leftovers: float = float("nan"),
) -> Pass:
    """Rows in blocks that lie anywhere; what no row owns holds `leftovers`."""
    heads = heads or Heads()
    random_numbers = torch.Generator().manual_seed(0)
    num_blocks = sum(-(-row.kv_len // block_size) for row in rows) + 3
    free = random.Random(0).sample(range(num_blocks), num_blocks)
    shape = LayerShape(heads.num_kv_heads, heads.key_dim, heads.value_dim, dtype)
    cache = LayerCache(shape, num_blocks, block_size, device)
    cache.entries.fill_(leftovers)

    def draw(*size: int) -> torch.Tensor:
        return torch.randn(size, generator=random_numbers).to(dtype).to(device)

    made = Pass([], cache, torch.empty(0), [], [])
    start = 0
    for row in rows:
        table = [free.pop() for _ in range(-(-row.kv_len // block_size))]
        key = draw(row.kv_len, heads.num_kv_heads, heads.key_dim)
        value = draw(row.kv_len, heads.num_kv_heads, heads.value_dim)
        slots = [table[i // block_size] * block_size + i % block_size for i in range(row.kv_len)]
        cache.write(torch.tensor(slots, device=device), key, value)
        made.spans.append(Span(start, row.num_tokens, row.num_computed, row.kv_len, table))
        made.keys.append(key)
        made.values.append(value)
        start += row.num_tokens
    made.query = draw(start, heads.num_heads, heads.key_dim)
    return made


def attend_plainly(made: Pass, options: AttentionOptions) -> torch.Tensor:
    """Each row on its own, in float64."""
    outputs = []
    for span, keys, values in zip(made.spans, made.keys, made.values, strict=True):
        query = made.query[span.start : span.start + span.num_tokens].double()
        num_groups = query.shape[1] // keys.shape[1]
        keys = keys.double().repeat_interleave(num_groups, 1)
        values = values.double().repeat_interleave(num_groups, 1)
        scores = torch.einsum("qhd,khd->hqk", query, keys)
        scores *= options.scaling or query.shape[2] ** -0.5
        if options.softcap:
            scores = torch.tanh(scores / options.softcap) * options.softcap
        weights = hide(scores, span, options.window).exp()
        total = weights.sum(-1, keepdim=True)
        if options.sinks is not None:
            total += options.sinks.double().exp()[:, None, None]
        outputs.append(torch.einsum("hqk,khd->qhd", weights / total, values))
    return torch.cat(outputs).to(made.query.dtype)


def hide(scores: torch.Tensor, span: Span, window: int | None) -> torch.Tensor:
    """Put -inf where a query does not see a key."""
    first = span.num_computed
    position = torch.arange(first, first + span.num_tokens).clamp_max(span.kv_len - 1)[:, None]
    key = torch.arange(span.kv_len)
    is_hidden = key > position
    if window is not None:
        is_hidden |= key <= position - window
    return scores.masked_fill(is_hidden.to(scores.device), float("-inf"))


def decode_batch(made: Pass, max_blocks: int) -> DecodeBatch:
    """Rows of one token in tensors such as a graph's."""
    device = made.query.device
    batch = empty_batch(len(made.spans), max_blocks, device)
    refill(batch, made.spans)
    return batch


def empty_batch(num_rows: int, max_blocks: int, device: torch.device = CPU) -> DecodeBatch:
    def zeros(*size: int) -> torch.Tensor:
        return torch.zeros(size, dtype=torch.int32, device=device)

    starts = torch.arange(num_rows + 1, dtype=torch.int32, device=device)
    return DecodeBatch(zeros(num_rows, max_blocks), zeros(num_rows), starts)


def refill(batch: DecodeBatch, spans: list[Span]) -> None:
    """Put these rows in place of those that were there; rows without a span become padding."""
    batch.kv_lens.zero_()
    for row, span in enumerate(spans):
        batch.kv_lens[row] = span.kv_len
        table = torch.tensor(span.block_table, dtype=torch.int32)
        batch.block_tables[row, : len(span.block_table)] = table
