"""How many programs attend, and what they are compiled for."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from engine.runners.attention.attend import AttentionOptions
from engine.runners.attention.attention_batch import AttentionBatch
from engine.runners.kv_cache import LayerShape
from engine.runners.triton.paged_launch import (
    Splitting,
    attend_constants,
    count_splits,
    count_tiles,
    count_workers,
    kind_of,
)
from engine.runners.triton.tiles import Tiles

KIND = kind_of(LayerShape(2, 80, 64, torch.bfloat16), 8, 16, AttentionOptions(softcap=30.0))
TILES = Tiles(block_m=16, block_n=64)


@pytest.fixture
def tf32():
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    yield
    torch.set_float32_matmul_precision(before)


def make_batch(num_rows: int, **sizes: Any) -> AttentionBatch:
    ints = torch.zeros(num_rows, dtype=torch.int32)
    given = {"num_tokens": num_rows, "num_single": num_rows, "max_query_len": 1, "max_kv_len": 9}
    return AttentionBatch(ints[:, None], ints, ints, ints, **given | sizes)


def constants(**changes: Any) -> dict[str, object]:
    options = {"is_decode": True, "is_interpreted": False} | changes
    return attend_constants(KIND, TILES, Splitting(), **options)


def test_sizes_are_padded_to_powers_of_two():
    assert {key: constants()[key] for key in ("KEY_DIM", "KEY_PAD", "VALUE_DIM", "VALUE_PAD")} == {
        "KEY_DIM": 80,
        "KEY_PAD": 128,
        "VALUE_DIM": 64,
        "VALUE_PAD": 64,
    }
    assert (constants()["NUM_GROUPS"], constants()["HAS_SOFTCAP"]) == (4, True)


def test_float32_is_exact_unless_torch_is_told_otherwise(tf32):
    assert constants()["PRECISION"] == "tf32"
    torch.set_float32_matmul_precision("highest")
    assert constants()["PRECISION"] == "ieee"


def test_only_interpreted_bfloat16_is_multiplied_in_float32():
    assert constants()["UPCAST"] is False
    assert constants(is_interpreted=True)["UPCAST"] is True


def test_a_decoding_pass_has_a_tile_a_row_and_another_a_bound_on_them():
    assert count_tiles(make_batch(5), KIND, TILES) == 5
    chunks = make_batch(3, num_tokens=1 + 1 + 10, num_single=2)
    assert count_tiles(chunks, KIND, TILES) == 12 // 4 + 3


def test_splits_grow_with_the_context_and_then_in_length():
    counts = [Splitting(512, 32).count(num_keys) for num_keys in (0, 1, 512, 513, 16384, 10**6)]

    assert counts == [1, 1, 1, 2, 32, 32]


def test_only_single_tokens_are_split_and_a_window_limits_them():
    long = make_batch(2, max_kv_len=4096)

    assert count_splits(long, Splitting(), TILES, window=None) == 8
    assert count_splits(long, Splitting(), TILES, window=1000) == 3  # 1000 keys and a tile's rest
    assert count_splits(make_batch(2, num_single=0, max_kv_len=4096), Splitting(), TILES, None) == 1


def test_few_rows_get_many_workers_and_many_rows_few():
    assert count_workers(num_programs=8, num_splits=32, num_sms=132) == 32
    assert count_workers(num_programs=64, num_splits=32, num_sms=132) == 9
    assert count_workers(num_programs=2048, num_splits=32, num_sms=132) == 1
    assert count_workers(num_programs=8, num_splits=1, num_sms=132) == 1
