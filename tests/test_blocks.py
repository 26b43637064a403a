from __future__ import annotations

import pytest

from engine.blocks import BlockChange, BlockPool
from engine.request import Sequence
from tests.builders import ask


def make_seqs(count: int) -> list[Sequence]:
    return [Sequence(ask(f"r{index}")) for index in range(count)]


@pytest.mark.parametrize(("num_tokens", "num_blocks"), [(0, 0), (1, 1), (4, 1), (5, 2), (8, 2)])
def test_tokens_round_up_to_whole_blocks(num_tokens: int, num_blocks: int):
    assert BlockPool(8, 4).blocks_for(num_tokens) == num_blocks


def test_a_reserve_is_taken_at_once_and_covers_shorter_contexts():
    pool, (seq,) = BlockPool(8, 4, reserve_tokens=10), make_seqs(1)
    assert pool.grow(seq, 1)
    assert (seq.block_table, pool.num_free) == ([0, 1, 2], 5)
    assert pool.grow(seq, 12)
    assert seq.block_table == [0, 1, 2]
    assert pool.grow(seq, 13)
    assert seq.block_table == [0, 1, 2, 3]


def test_a_sequence_grows_block_by_block():
    pool, (seq,) = BlockPool(3, 4), make_seqs(1)
    tables = [pool.grow(seq, n) and list(seq.block_table) for n in (1, 4, 5, 12)]
    assert tables == [[0], [0], [0, 1], [0, 1, 2]]


def test_growing_is_all_or_nothing():
    pool, (first, second) = BlockPool(3, 4), make_seqs(2)
    assert pool.grow(first, 8)
    pool.take_changes()
    assert not pool.grow(second, 5)
    assert (second.block_table, pool.num_free, pool.num_used) == ([], 1, 2)
    assert not pool.has_changes
    assert pool.grow(second, 4)


def test_missing_counts_what_a_sequence_does_not_hold_yet():
    pool, (seq,) = BlockPool(8, 4), make_seqs(1)
    pool.grow(seq, 5)
    assert [pool.missing(seq, n) for n in (0, 8, 9, 17)] == [0, 0, 1, 3]


def test_released_blocks_are_handed_out_again_lowest_first():
    pool, (first, second) = BlockPool(4, 4), make_seqs(2)
    pool.grow(first, 8)
    pool.grow(second, 8)
    pool.release(first)
    assert (first.block_table, pool.num_free) == ([], 2)
    pool.grow(second, 12)
    assert second.block_table == [2, 3, 0]


def test_releasing_twice_gives_back_once():
    pool, (seq,) = BlockPool(4, 4), make_seqs(1)
    pool.grow(seq, 8)
    pool.release(seq)
    pool.release(seq)
    assert pool.num_free == 4
    assert pool.take_changes() == (
        BlockChange("r0", taken=(0, 1)),
        BlockChange("r0", released=(0, 1)),
    )


def test_changes_are_told_once_and_in_order():
    pool, (first, second) = BlockPool(4, 4), make_seqs(2)
    pool.grow(first, 4)
    pool.grow(second, 5)
    pool.release(first)
    assert pool.has_changes
    assert pool.take_changes() == (
        BlockChange("r0", taken=(0,)),
        BlockChange("r1", taken=(1, 2)),
        BlockChange("r0", released=(0,)),
    )
    assert pool.take_changes() == ()
    assert not pool.has_changes


def test_a_huge_cache_costs_nothing_before_it_is_used():
    pool, (seq,) = BlockPool(10**15), make_seqs(1)
    assert pool.grow(seq, 17)
    assert (seq.block_table, pool.num_free) == ([0, 1], 10**15 - 2)


@pytest.mark.parametrize(("num_blocks", "block_size"), [(0, 16), (-1, 16), (16, 0)])
def test_a_cache_of_nothing_is_refused(num_blocks: int, block_size: int):
    with pytest.raises(ValueError, match=f"at least 1 x 1 tokens, got {num_blocks} x {block_size}"):
        BlockPool(num_blocks, block_size)
