"""Grouped attention over the paged cache equals plain attention, a query at a time."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest
import torch

from engine.runners import gather
from engine.runners.attend import AttentionOptions
from engine.runners.gather import GatherAttention
from engine.runners.kv_cache import LayerCache, LayerShape
from engine.runners.pack import Span

BLOCK_SIZE, NUM_BLOCKS = 4, 128
NUM_HEADS, NUM_KV_HEADS, KEY_DIM, VALUE_DIM = 6, 2, 8, 12
CPU = torch.device("cpu")
SINKS = torch.linspace(-1, 2, NUM_HEADS)
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
# Each row's tokens in the pass and before it, in the order in which passes are packed.
PASSES = {
    "one decode": [(1, 9)],
    "decodes of many lengths": [(1, 0), (1, 1), (1, 3), (1, 4), (1, 17), (1, 40)],
    "a prompt": [(7, 0)],
    "prompts of one width": [(5, 0), (5, 0)],
    "prompts of two widths": [(3, 0), (8, 0)],
    "a chunk": [(6, 13)],
    "chunks of one width": [(4, 2), (4, 9), (4, 30)],
    "all together": [(1, 2), (1, 33), (3, 0), (3, 0), (3, 11), (9, 0), (9, 20)],
}


@dataclass
class Pass:
    """Rows with random contents, their past in the cache and their present beside it."""

    spans: list[Span]
    cache: LayerCache
    query: torch.Tensor
    contexts: list[tuple[torch.Tensor, torch.Tensor]]

    def attend(self, options: AttentionOptions) -> torch.Tensor:
        backend = GatherAttention(BLOCK_SIZE, CPU)
        backend.begin(self.spans)
        new = [(s, k, v) for s, (k, v) in zip(self.spans, self.contexts, strict=True)]
        key = torch.cat([k[s.num_computed :] for s, k, _ in new])
        value = torch.cat([v[s.num_computed :] for s, _, v in new])
        return backend.attend(self.query, key, value, self.cache, options)


def make_pass(rows: list[tuple[int, int]]) -> Pass:
    torch.manual_seed(0)
    free = random.Random(0).sample(range(NUM_BLOCKS), NUM_BLOCKS)
    cache = LayerCache(
        LayerShape(NUM_KV_HEADS, KEY_DIM, VALUE_DIM, torch.float32), NUM_BLOCKS, BLOCK_SIZE, CPU
    )
    cache.entries.fill_(1e3)  # what others left
    spans, contexts, start = [], [], 0
    for num_tokens, num_computed in rows:
        kv_len = num_tokens + num_computed
        table = [free.pop() for _ in range(-(-kv_len // BLOCK_SIZE))]
        key = torch.randn(kv_len, NUM_KV_HEADS, KEY_DIM)
        value = torch.randn(kv_len, NUM_KV_HEADS, VALUE_DIM)
        slots = [table[i // BLOCK_SIZE] * BLOCK_SIZE + i % BLOCK_SIZE for i in range(kv_len)]
        cache.write(torch.tensor(slots), key, value)
        spans.append(Span(start, num_tokens, num_computed, kv_len, table))
        contexts.append((key, value))
        start += num_tokens
    return Pass(spans, cache, torch.randn(start, NUM_HEADS, KEY_DIM), contexts)


def attend_plainly(made: Pass, options: AttentionOptions) -> torch.Tensor:
    outputs = []
    for span, (keys, values) in zip(made.spans, made.contexts, strict=True):
        for token in range(span.num_tokens):
            position = span.num_computed + token
            begin = max(0, position + 1 - (options.window or 10**9))
            seen = slice(begin, position + 1)
            for head in range(NUM_HEADS):
                kv_head = head // (NUM_HEADS // NUM_KV_HEADS)
                query = made.query[span.start + token, head]
                scores = keys[seen, kv_head] @ query * (options.scaling or KEY_DIM**-0.5)
                if options.softcap:
                    scores = torch.tanh(scores / options.softcap) * options.softcap
                weights = scores.exp()
                sink = options.sinks[head].exp() if options.sinks is not None else 0.0
                outputs.append(weights @ values[seen, kv_head] / (weights.sum() + sink))
    return torch.stack(outputs).view(-1, NUM_HEADS, VALUE_DIM)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("rows", PASSES.values(), ids=PASSES)
def test_it_equals_plain_attention(rows, options):
    made = make_pass(rows)

    torch.testing.assert_close(made.attend(options), attend_plainly(made, options))


@pytest.mark.parametrize("group_bytes", [1, 5_000, 10**9])
def test_the_size_of_a_group_changes_nothing(monkeypatch, group_bytes):
    monkeypatch.setattr(gather, "CPU_GROUP_BYTES", group_bytes)
    made = make_pass(PASSES["all together"])

    torch.testing.assert_close(
        made.attend(AttentionOptions()), attend_plainly(made, AttentionOptions())
    )


def test_one_backend_serves_layers_of_different_kinds_in_one_pass():
    made = make_pass(PASSES["all together"])
    backend = GatherAttention(BLOCK_SIZE, CPU)
    backend.begin(made.spans)
    new = list(zip(made.spans, made.contexts, strict=True))
    key = torch.cat([keys[span.num_computed :] for span, (keys, _) in new])
    value = torch.cat([values[span.num_computed :] for span, (_, values) in new])

    for options in (*OPTIONS.values(), *OPTIONS.values()):
        output = backend.attend(made.query, key, value, made.cache, options)
        torch.testing.assert_close(output, attend_plainly(made, options))


def test_padding_sees_what_its_rows_last_token_sees():
    made = make_pass([(1, 9)])
    padded = Span(0, 3, 9, 10, made.spans[0].block_table)
    made.query = made.query.repeat(3, 1, 1)
    expected = made.attend(AttentionOptions())

    backend = GatherAttention(BLOCK_SIZE, CPU)
    backend.begin([padded])
    key, value = torch.zeros(3, NUM_KV_HEADS, KEY_DIM), torch.zeros(3, NUM_KV_HEADS, VALUE_DIM)
    output = backend.attend(made.query, key, value, made.cache, AttentionOptions())

    torch.testing.assert_close(output, expected[:1].expand(3, -1, -1))
