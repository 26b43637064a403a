"""What the Triton kernels are compiled for and how many programs are launched. No Triton here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch

from engine.runners.attention.attend import AttentionOptions
from engine.runners.attention.attention_batch import AttentionBatch
from engine.runners.kv_cache import LayerShape
from engine.runners.triton.tiles import Tiles, choose_tiles, next_power_of_2

SPLIT_TOKENS = 512
MAX_SPLITS = 32
LEAST_DIM = 16  # of a matrix product on tensor cores
PROGRAMS_PER_SM = 4  # so that one computes while others wait for memory


@dataclass(frozen=True, slots=True)
class Splitting:
    """How the contexts of rows with one token are split; part of what decides how results round.

    Attributes:
        tokens: a split covers, until there are `most` of them and they grow.
        most: splits of a row; a power of two, 1 for none.
    """

    tokens: int = SPLIT_TOKENS
    most: int = MAX_SPLITS

    def count(self, num_keys: int) -> int:
        """In how many splits a row attends to so many keys, as the kernel counts."""
        return min(max(-(-num_keys // self.tokens), 1), self.most)


@dataclass(frozen=True, slots=True)
class LayerKind:
    """What of a layer the kernels are compiled for.

    Attributes:
        block_size: tokens a block of the cache.
    """

    shape: LayerShape
    num_heads: int
    block_size: int
    has_window: bool
    has_softcap: bool
    has_sinks: bool

    @property
    def num_groups(self) -> int:
        return self.num_heads // self.shape.num_kv_heads

    @property
    def key_pad(self) -> int:
        return max(LEAST_DIM, next_power_of_2(self.shape.key_dim))

    @property
    def value_pad(self) -> int:
        return max(LEAST_DIM, next_power_of_2(self.shape.value_dim))

    def tiles(self, *, is_decode: bool) -> Tiles:
        """From the fixed table."""
        entry_dims, itemsize = self.key_pad + self.value_pad, self.shape.dtype.itemsize
        return choose_tiles(self.num_groups, entry_dims, itemsize, is_decode=is_decode)


class TileChoice(Protocol):
    """The tiles for a kind of layer: `LayerKind.tiles`, or what tuning found."""

    def __call__(self, kind: LayerKind, /, *, is_decode: bool) -> Tiles:
        """Choose; always alike for the same arguments."""
        ...


def kind_of(
    shape: LayerShape, num_heads: int, block_size: int, options: AttentionOptions
) -> LayerKind:
    """What a layer that asks for these options is compiled for."""
    return LayerKind(
        shape,
        num_heads,
        block_size,
        has_window=options.window is not None,
        has_softcap=options.softcap is not None,
        has_sinks=options.sinks is not None,
    )


def combine_constants(kind: LayerKind, tiles: Tiles, splitting: Splitting) -> dict[str, object]:
    """What `combine_kernel` is compiled for."""
    return {
        "NUM_HEADS": kind.num_heads,
        "VALUE_DIM": kind.shape.value_dim,
        "VALUE_PAD": kind.value_pad,
        "BLOCK_N": tiles.block_n,
        "HAS_WINDOW": kind.has_window,
        "HAS_SINKS": kind.has_sinks,
        "SPLIT_TOKENS": splitting.tokens,
        "MAX_SPLITS": splitting.most,
    }


def attend_constants(
    kind: LayerKind, tiles: Tiles, splitting: Splitting, *, is_decode: bool, is_interpreted: bool
) -> dict[str, object]:
    """What `attend_kernel` is compiled for."""
    may_round = torch.get_float32_matmul_precision() != "highest"
    return combine_constants(kind, tiles, splitting) | {
        "NUM_GROUPS": kind.num_groups,
        "KEY_DIM": kind.shape.key_dim,
        "KEY_PAD": kind.key_pad,
        "BLOCK_SIZE": kind.block_size,
        "BLOCK_M": tiles.block_m,
        "IS_DECODE": is_decode,
        "HAS_SOFTCAP": kind.has_softcap,
        "PRECISION": "tf32" if may_round else "ieee",
        "UPCAST": is_interpreted and kind.shape.dtype is torch.bfloat16,
    }


def count_tiles(batch: AttentionBatch, kind: LayerKind, tiles: Tiles) -> int:
    """Tiles of queries, a few of them empty: a bound that needs no row's length."""
    if batch.is_decode:
        return batch.num_rows
    return batch.num_tokens // (tiles.block_m // kind.num_groups) + batch.num_rows


def count_splits(
    batch: AttentionBatch, splitting: Splitting, tiles: Tiles, window: int | None
) -> int:
    """Splits of the longest context that may be split."""
    if not batch.num_single:
        return 1
    most_keys = batch.max_kv_len
    if window is not None:  # it begins at the edge of a tile
        most_keys = min(most_keys, window + tiles.block_n - 1)
    return splitting.count(most_keys)


def count_workers(num_programs: int, num_splits: int, num_sms: int) -> int:
    """Programs on the splits of one row: as many as fill the device."""
    return min(num_splits, -(-PROGRAMS_PER_SM * num_sms // num_programs))
