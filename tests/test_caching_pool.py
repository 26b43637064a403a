from __future__ import annotations

import pytest

from engine.blocks import BlockChange, Lookup
from engine.caching_pool import CachingPool
from engine.request import PENDING, Request, Sequence


def make_seq(name: str, *prompt: int) -> Sequence:
    return Sequence(Request(name, prompt))


def run(pool: CachingPool, seq: Sequence, *, num_tokens: int | None = None) -> tuple[int, ...]:
    """Admit a sequence and compute it; return the blocks that it found."""
    prefix = pool.find_prefix(seq)
    assert pool.begin(seq, num_tokens or seq.num_tokens, prefix)
    seq.num_computed = num_tokens or seq.num_tokens
    pool.publish(seq, seq.num_computed)
    return prefix


def test_a_prompt_that_begins_alike_shares_whole_blocks():
    pool = CachingPool(8, 2)
    first, second = make_seq("a", 1, 2, 3, 4, 5), make_seq("b", 1, 2, 3, 9)
    assert run(pool, first) == ()
    assert run(pool, second) == (0,)
    assert (first.block_table, second.block_table) == ([0, 1, 2], [0, 3])
    assert (pool.num_used, pool.num_free) == (4, 4)


def test_of_a_prompt_that_is_all_known_the_last_block_is_computed_again():
    pool = CachingPool(8, 2)
    run(pool, make_seq("a", 1, 2, 3, 4))
    again = make_seq("b", 1, 2, 3, 4)
    prefix = pool.find_prefix(again)
    pool.begin(again, 4, prefix)
    assert (prefix, again.num_computed, again.block_table) == ((0,), 2, [0, 2])


def test_only_what_was_computed_is_found():
    pool = CachingPool(8, 2)
    run(pool, make_seq("a", 1, 2, 3, 4, 5, 6, 7), num_tokens=4)
    assert pool.find_prefix(make_seq("b", 1, 2, 3, 4, 5, 6, 7)) == (0, 1)


def test_a_sequence_that_begins_but_is_not_computed_yet_shares_nothing():
    pool = CachingPool(8, 2)
    seq = make_seq("a", 1, 2, 3, 4)
    pool.begin(seq, 4, ())
    assert pool.find_prefix(make_seq("b", 1, 2, 3, 4)) == ()
    pool.release(seq)
    assert (pool.cached, pool.num_free) == (frozenset(), 8)


def test_full_blocks_of_output_are_found_too():
    pool = CachingPool(8, 2)
    seq = make_seq("a", 1, 2, 3)
    run(pool, seq)
    seq.token_ids += [4, 5]
    pool.grow(seq, 4)
    pool.publish(seq, 4)
    assert pool.find_prefix(make_seq("b", 1, 2, 3, 4, 5, 6)) == (0, 1)


def test_an_id_that_is_not_known_yet_is_never_published():
    pool = CachingPool(8, 2)
    seq = make_seq("a", 1, 2, 3)
    run(pool, seq)
    seq.token_ids.append(PENDING)
    with pytest.raises(AssertionError, match="not known yet"):
        pool.publish(seq, 4)


def test_blocks_that_nobody_holds_stay_until_their_memory_is_needed():
    pool = CachingPool(3, 2)
    first = make_seq("a", 1, 2, 3)
    run(pool, first)
    pool.release(first)
    assert (pool.num_free, pool.num_used, pool.cached) == (3, 0, {0})
    assert pool.find_prefix(make_seq("b", 1, 2, 9)) == (0,)
    run(pool, make_seq("c", 7, 7, 8, 8, 9, 9))
    assert pool.find_prefix(make_seq("b", 1, 2, 9)) == ()


def test_empty_blocks_go_first_then_the_least_recently_used_and_ends_before_beginnings():
    pool = CachingPool(6, 2)
    old, new = make_seq("old", 1, 1, 2, 2), make_seq("new", 3, 3, 4, 4, 5)
    for seq in (old, new):
        run(pool, seq)
        pool.release(seq)
    assert (old.block_table, pool.cached) == ([], {0, 1, 2, 3})
    taken = []
    for index in range(6):
        seq = make_seq(f"x{index}", 9)
        pool.begin(seq, 1, ())
        taken += seq.block_table
    assert taken == [4, 5, 1, 0, 3, 2]


def test_a_block_in_use_is_never_taken_away():
    pool = CachingPool(2, 2)
    run(pool, make_seq("a", 1, 2, 3))
    assert not pool.begin(make_seq("b", 7), 1, ())
    assert pool.find_prefix(make_seq("c", 1, 2, 3)) == (0,)


def test_an_idle_prefix_takes_free_blocks_and_a_shared_one_does_not():
    pool = CachingPool(4, 2)
    first = make_seq("a", 1, 2, 3, 4, 5)
    run(pool, first)
    again = make_seq("b", 1, 2, 3, 4, 9, 9, 9)
    prefix = pool.find_prefix(again)
    assert (prefix, pool.missing(again, 7, prefix)) == ((0, 1), 2)
    assert not pool.begin(again, 7, prefix), "one is free"
    pool.release(first)
    assert pool.missing(again, 7, prefix) == pool.num_free == 4
    assert pool.begin(again, 7, prefix)
    assert pool.num_free == 0


def test_a_shared_block_is_free_when_its_last_holder_leaves():
    pool = CachingPool(4, 2)
    first, second = make_seq("a", 1, 2, 3), make_seq("b", 1, 2, 4)
    run(pool, first)
    run(pool, second)
    pool.release(first)
    assert pool.num_used == 2
    pool.release(second)
    assert (pool.num_used, pool.cached) == (0, {0})


def test_two_that_computed_the_same_at_once_keep_their_own_blocks():
    pool = CachingPool(8, 2)
    first, second = make_seq("a", 1, 2, 3, 4, 5), make_seq("b", 1, 2, 3, 4, 5)
    pool.begin(first, 5, ())
    pool.begin(second, 5, ())
    pool.publish(first, 5)
    pool.publish(second, 5)
    assert (first.block_table, second.block_table) == ([0, 1, 2], [3, 4, 5])
    assert pool.cached == {0, 1}
    pool.release(second)
    assert pool.num_free == 5
    assert pool.find_prefix(make_seq("c", 1, 2, 3, 4, 5)) == (0, 1)


def test_a_reserve_counts_the_blocks_that_are_shared():
    pool = CachingPool(8, 2, reserve_tokens=8)
    first, second = make_seq("a", 1, 2, 3, 4), make_seq("b", 1, 2, 3, 4)
    run(pool, first)
    run(pool, second)
    assert (len(second.block_table), pool.num_used) == (4, 7)


def test_changes_tell_what_was_looked_for_found_and_can_be_shared():
    pool = CachingPool(8, 2)
    first, second = make_seq("a", 1, 2, 3), make_seq("b", 1, 2, 3)
    run(pool, first)
    run(pool, second)
    second.num_preemptions = 1
    pool.release(second)
    run(pool, second)
    assert pool.take_changes() == (
        BlockChange("a", taken=(0, 1), lookup=Lookup(3, 0)),
        BlockChange("a", cached=(0,)),
        BlockChange("b", taken=(0, 2), lookup=Lookup(3, 2)),
        BlockChange("b", released=(0, 2)),
        BlockChange("b", taken=(0, 2), lookup=Lookup(3, 2, is_resumed=True)),
    )


def test_a_huge_cache_costs_nothing_before_it_is_used():
    pool = CachingPool(10**15)
    run(pool, make_seq("a", *range(17)))
    assert (pool.num_free, pool.cached) == (10**15 - 2, {0})


def test_what_a_pass_is_to_fill_is_found_before_it_runs_and_told_once():
    pool = CachingPool(8, 4)
    first, second = make_seq("a", *range(9)), make_seq("b", *range(9))
    pool.begin(first, 9, ())
    pool.promise(first, 9)
    assert pool.begin(second, 9, pool.find_prefix(second))
    assert (first.block_table, second.block_table) == ([0, 1, 2], [0, 1, 3])
    assert (pool.take_promised(), pool.take_promised()) == ((0, 1), ())


def test_what_was_promised_and_never_filled_is_not_found_and_its_blocks_are_empty():
    pool = CachingPool(3, 4)
    first, second = make_seq("a", *range(9)), make_seq("b", *range(9))
    pool.begin(first, 9, ())
    pool.promise(first, 9)
    pool.release(first)
    pool.retract(pool.take_promised())
    assert (pool.find_prefix(second), pool.cached, pool.num_free) == ((), frozenset(), 3)
    assert pool.begin(second, 9, ())
