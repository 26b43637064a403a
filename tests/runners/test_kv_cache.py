"""The cache's memory: where tokens go, what it takes, and that it starts clean."""

from __future__ import annotations

import psutil
import torch

from engine.runners.kv_cache import KvCache, LayerShape

CPU = torch.device("cpu")
SHAPE = LayerShape(num_kv_heads=2, key_dim=3, value_dim=5, dtype=torch.float32)


def test_a_tokens_key_and_value_lie_in_its_slot():
    layer = KvCache({0: SHAPE}, num_blocks=4, block_size=2, device=CPU).layers[0]
    key, value = torch.randn(2, 2, 3), torch.randn(2, 2, 5)

    layer.write(torch.tensor([5, 0]), key, value)

    assert torch.equal(layer.entries[2, 1], torch.cat((key[0], value[0]), dim=-1))
    assert torch.equal(layer.entries[0, 0], torch.cat((key[1], value[1]), dim=-1))
    assert layer.entries.count_nonzero() == 2 * 2 * 8


def test_the_scratch_slot_lies_behind_the_last_block():
    cache = KvCache({0: SHAPE}, num_blocks=4, block_size=2, device=CPU)

    assert cache.scratch_slot == 8
    assert cache.layers[0].entries.shape == (5, 2, 2, 8)


def test_its_size_counts_every_layer():
    shapes = {0: SHAPE, 1: LayerShape(1, 4, 4, torch.bfloat16)}

    assert KvCache(shapes, 4, 2, CPU).num_bytes == 10 * (2 * 8 * 4 + 8 * 2)


def test_memory_that_no_token_has_touched_is_not_taken():
    before = psutil.Process().memory_info().rss

    cache = KvCache({0: LayerShape(8, 64, 64, torch.bfloat16)}, 16_384, 16, CPU)

    assert cache.num_bytes > 500e6
    assert psutil.Process().memory_info().rss - before < 50e6
