"""Who holds and who shares which blocks, as the log tells it and as the engine knows it."""

from __future__ import annotations

import pytest

from engine.blocks import BlockChange, Lookup
from engine.request import Request, SamplingParams
from tests.tui.stage import StageBackend
from tuiapp.view.kv_book import KvBook
from tuiapp.view.viewmodel import ViewModel


def test_a_shared_block_passes_to_the_next_holder_when_its_owner_leaves():
    book = KvBook(num_blocks=4, block_size=2)
    book.move(BlockChange("a", taken=(0, 1), lookup=Lookup(3, 0)))
    book.move(BlockChange("a", cached=(0,)))
    book.move(BlockChange("b", taken=(0, 2), lookup=Lookup(3, 2)))
    assert (book.owners, book.sharing, book.num_used) == (["a", "a", "b", None], {0: 2}, 3)
    book.move(BlockChange("a", released=(0, 1)))
    assert (book.owners, book.sharing) == (["b", None, "b", None], {})
    book.move(BlockChange("b", released=(0, 2)))
    assert (book.num_used, book.cached) == (0, {0})
    assert (book.num_hit, book.num_looked_up) == (2, 6)


def test_a_guest_that_leaves_first_leaves_the_owner_alone():
    book = KvBook(num_blocks=1, block_size=2)
    book.move(BlockChange("a", taken=(0,)))
    for name in "bc":
        book.move(BlockChange(name, taken=(0,), lookup=Lookup(3, 2)))
    book.move(BlockChange("b", released=(0,)))
    assert (book.owners, book.sharing) == (["a"], {0: 2})


def test_a_block_that_is_taken_for_something_else_is_cached_no_more():
    book = KvBook(num_blocks=1, block_size=2)
    book.cached = {0}
    book.move(BlockChange("a", taken=(0,), lookup=Lookup(1, 0)))
    assert book.cached == set()


def test_what_is_found_after_a_preemption_does_not_count():
    book = KvBook(num_blocks=2, block_size=2)
    book.cached = {0}
    book.move(BlockChange("a", taken=(0, 1), lookup=Lookup(3, 2, is_resumed=True)))
    assert (book.num_hit, book.num_looked_up) == (0, 0)


def test_a_copy_changes_on_its_own():
    book = KvBook(num_blocks=1, block_size=2)
    twin = book.copy()
    twin.move(BlockChange("a", taken=(0,)))
    twin.move(BlockChange("a", cached=(0,)))
    assert (book.owners, book.cached) == ([None], set())


@pytest.mark.parametrize("num_kv_blocks", [256, 24])
def test_a_frame_shows_what_the_engine_holds(num_kv_blocks):
    backend = StageBackend(enable_prefix_caching=True, num_kv_blocks=num_kv_blocks)
    for number in range(12):
        prompt = (5,) * 48 + (number,) * (3 + number * 7 % 40)
        backend.submit(Request(f"r{number}", prompt, SamplingParams(max_tokens=20)))
    viewmodel, num_shared = ViewModel(backend.log), 0
    for _ in range(80):
        backend.run(1)
        snapshot, pool = viewmodel.poll(backend.now()), backend.core.queues.pool
        assert snapshot.cached_blocks == pool.cached
        assert snapshot.meters.num_used_blocks == pool.num_used
        tables = [block for seq in backend.core.queues.running for block in seq.block_table]
        assert snapshot.block_sharing == {b: n for b in tables if (n := tables.count(b)) > 1}
        num_shared = max(num_shared, len(snapshot.block_sharing))
    assert num_shared == 3
    assert snapshot.meters.num_hit > 0
    cached = viewmodel.request("r11")
    assert cached
    assert cached.num_cached == 48


def test_blocks_that_were_never_filled_cannot_be_shared_any_more():
    book = KvBook(4, 16)
    book.move(BlockChange("a", taken=(0, 1)))
    book.move(BlockChange("a", cached=(0, 1)))
    book.move(BlockChange("", forgotten=(0, 1)))
    assert (book.cached, book.owners) == (set(), ["a", "a", None, None])
