"""The Triton kernel, interpreted, equals plain attention and the gathering kind."""

from __future__ import annotations

import pytest
import torch

from engine.runners.attention.attend import AttentionOptions
from engine.runners.attention.gather import GatherAttention
from engine.runners.kv_cache import LayerCache, LayerShape
from engine.runners.triton.paged_launch import LayerKind, Splitting
from tests.runners.fake_capture import FakeCapture
from tests.runners.passes import (
    CPU,
    OPTIONS,
    Heads,
    Rows,
    attend_plainly,
    decode_batch,
    empty_batch,
    make_pass,
    refill,
)

pytest.importorskip("triton", reason="triton is not installed")
from engine.runners.triton.paged_triton import TritonAttention
from engine.runners.triton.tiles import Tiles

BLOCK_SIZE = 4
PLAIN, ALL = OPTIONS["plain"], OPTIONS["all at once"]
PASSES = {
    "one decode": [Rows(1, 9)],
    "decodes of many lengths": [Rows(1, past) for past in (0, 3, 4, 40)],
    "a prompt": [Rows(7, 0)],
    "prompts of two widths": [Rows(3, 0), Rows(8, 0)],
    "a chunk": [Rows(6, 13)],
    "chunks of one width": [Rows(4, 2), Rows(4, 30)],
    "all together": [Rows(1, 2), Rows(1, 33), Rows(3, 0), Rows(9, 20)],
    "a padded batch": [Rows(9, 0), Rows(9, 0, 4), Rows(9, 3, 8)],
    "dead rows": [Rows(1, 9, 1), Rows(1, 30), Rows(1, 2, 1)],
    "padded dead rows": [Rows(5, 9, 5), Rows(5, 4)],
}
DECODES, MIXED = PASSES["decodes of many lengths"], PASSES["all together"]
HEADS = {
    "no groups": Heads(3, 3, 16, 16),
    "groups of three": Heads(9, 3, 16, 16),
    "one key/value head": Heads(10, 1, 16, 16),
    "odd sizes": Heads(4, 2, 20, 20),
    "values wider than keys": Heads(4, 2, 8, 40),
    "keys wider than values": Heads(4, 4, 48, 24),
}
TOLERANCES = {
    torch.float32: {"rtol": 1e-5, "atol": 1e-5},
    torch.float16: {"rtol": 2e-3, "atol": 2e-3},
    torch.bfloat16: {"rtol": 2e-2, "atol": 2e-2},
}
IN_SPLITS = Splitting(tokens=16, most=4)
NARROW = Tiles(block_m=16, block_n=16)


def in_narrow_tiles(kind: LayerKind, /, *, is_decode: bool) -> Tiles:
    return NARROW


def make_backend(block_size: int = BLOCK_SIZE, **options) -> TritonAttention:
    return TritonAttention(block_size, CPU, **{"choose_tiles": in_narrow_tiles} | options)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("rows", PASSES.values(), ids=PASSES)
def test_it_equals_plain_attention(rows, options):
    made = make_pass(rows)

    output = made.attend(make_backend(splitting=IN_SPLITS), options)

    torch.testing.assert_close(output, attend_plainly(made, options))


@pytest.mark.parametrize("options", [PLAIN, ALL], ids=["plain", "all at once"])
@pytest.mark.parametrize("name", ["all together", "a padded batch", "dead rows"])
def test_it_equals_attention_by_gathering(name, options):
    made = make_pass(PASSES[name], leftovers=0.0)

    output = made.attend(make_backend(splitting=IN_SPLITS), options)

    gathered = made.attend(GatherAttention(BLOCK_SIZE, CPU), options)
    torch.testing.assert_close(output[made.live], gathered[made.live])


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("heads", HEADS.values(), ids=HEADS)
@pytest.mark.parametrize("rows", [[Rows(1, 40)], [Rows(1, 9), Rows(5, 7)]], ids=["decode", "mixed"])
def test_heads_of_any_number_and_size_in_every_precision(rows, heads, dtype):
    made = make_pass(rows, heads, dtype=dtype)
    options = AttentionOptions(window=9, softcap=3.0, sinks=torch.ones(heads.num_heads))

    output = made.attend(make_backend(splitting=IN_SPLITS), options)

    torch.testing.assert_close(output, attend_plainly(made, options), **TOLERANCES[dtype])


@pytest.mark.parametrize("block_size", [1, 3, 8, 16, 32, 256])
@pytest.mark.parametrize("options", [PLAIN, ALL], ids=["plain", "all at once"])
def test_blocks_of_any_size(block_size, options):
    made = make_pass(MIXED, block_size=block_size)

    output = made.attend(make_backend(block_size, splitting=IN_SPLITS), options)

    torch.testing.assert_close(output, attend_plainly(made, options))


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("rows", [[Rows(1, 1300)], [Rows(1, 700), Rows(70, 8)]], ids=["one", "two"])
def test_the_default_tiles_and_splits(rows, dtype):
    made = make_pass(rows, Heads(8, 2, 64, 64), block_size=16, dtype=dtype)

    output = made.attend(TritonAttention(16, CPU), PLAIN)

    torch.testing.assert_close(output, attend_plainly(made, PLAIN), **TOLERANCES[dtype])


@pytest.mark.parametrize("most", [1, 2, 16])
@pytest.mark.parametrize("options", [PLAIN, ALL], ids=["plain", "all at once"])
def test_a_long_context_in_one_part_or_in_many(most, options):
    made = make_pass([Rows(1, 3), Rows(1, 16), Rows(1, 150)])

    output = made.attend(make_backend(splitting=Splitting(16, most)), options)

    torch.testing.assert_close(output, attend_plainly(made, options))


@pytest.mark.parametrize("num_workers", [1, 3])
def test_the_number_of_workers_changes_no_bit(num_workers):
    made = make_pass([Rows(1, 20), Rows(1, 150), Rows(2, 20)])
    alone = made.attend(make_backend(splitting=IN_SPLITS, num_workers=4), ALL)

    output = made.attend(make_backend(splitting=IN_SPLITS, num_workers=num_workers), ALL)

    assert output.equal(alone)


def test_company_changes_no_bit_of_a_row():
    together = make_pass([Rows(1, 7), Rows(1, 60), Rows(9, 0), Rows(9, 20)])
    output = together.attend(make_backend(splitting=IN_SPLITS), ALL)

    for span in together.spans:
        tokens = slice(span.start, span.start + span.num_tokens)
        query, backend = together.query[tokens], make_backend(splitting=IN_SPLITS)
        backend.begin([span._replace(start=0)])
        alone = backend.attend(query, query, query, together.cache, ALL)
        assert alone.equal(output[tokens])


def test_one_backend_serves_layers_of_different_kinds_in_one_pass():
    made, backend = make_pass(MIXED), make_backend(splitting=IN_SPLITS)
    backend.begin(made.spans)

    for options in (PLAIN, ALL, PLAIN):
        output = made.attend_prepared(backend, options)
        torch.testing.assert_close(output, attend_plainly(made, options))


def test_queries_may_lie_in_memory_as_transformers_leaves_them():
    made = make_pass(MIXED)
    expected = attend_plainly(made, PLAIN)

    made.query = made.query.transpose(0, 1).contiguous().transpose(0, 1)
    torch.testing.assert_close(made.attend(make_backend(), PLAIN), expected)
    made.query = made.query.transpose(1, 2).contiguous().transpose(1, 2)
    torch.testing.assert_close(made.attend(make_backend(), PLAIN), expected)


@pytest.mark.parametrize("options", [PLAIN, ALL], ids=["plain", "all at once"])
def test_a_decoding_pass_in_tensors_of_the_caller(options):
    made, backend = make_pass(DECODES), make_backend(splitting=IN_SPLITS)

    backend.begin_decode(decode_batch(made, max_blocks=64))

    output = made.attend_prepared(backend, options)
    torch.testing.assert_close(output, attend_plainly(made, options))


def test_what_the_callers_tensors_hold_is_read_at_each_launch():
    long, short = make_pass([Rows(1, 90), Rows(1, 7)]), make_pass([Rows(1, 2), Rows(1, 0)])
    backend, batch = make_backend(splitting=IN_SPLITS), empty_batch(2, max_blocks=32)
    backend.begin_decode(batch)

    for made in (long, short, long):
        refill(batch, made.spans)
        output = made.attend_prepared(backend, ALL)
        torch.testing.assert_close(output, attend_plainly(made, ALL))


def test_one_recorded_launch_serves_contexts_in_one_part_and_in_many():
    passes = make_pass([Rows(1, 2), Rows(1, 0)]), make_pass([Rows(1, 90), Rows(1, 7)])
    backend, batch = make_backend(splitting=IN_SPLITS), empty_batch(2, max_blocks=32)
    cache = LayerCache(passes[1].cache.shape, 64, BLOCK_SIZE, CPU)
    capture, query = FakeCapture(), torch.zeros_like(passes[1].query)

    def run() -> torch.Tensor:
        backend.begin_decode(batch)
        return backend.attend(query, query, query, cache, ALL)

    replay = capture.capture(run)

    assert capture.num_launches == 2, "to attend, and to join what was split"
    for made in passes:
        refill(batch, made.spans)
        query.copy_(made.query)
        cache.entries[: len(made.cache.entries)] = made.cache.entries
        torch.testing.assert_close(replay(), attend_plainly(made, ALL))


def test_padding_of_a_captured_pass_attends_to_nothing():
    made, backend = make_pass([Rows(1, 9)]), make_backend(splitting=IN_SPLITS)
    batch = empty_batch(4, max_blocks=32)
    refill(batch, made.spans)
    backend.begin_decode(batch)
    query = made.query.repeat(4, 1, 1)

    output = backend.attend(query, query, query, made.cache, ALL)

    torch.testing.assert_close(output[:1], attend_plainly(made, ALL))
    assert output[1:].count_nonzero() == 0


def test_its_name_says_that_it_is_interpreted():
    assert make_backend().name == "paged triton (interpreted)"


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("heads", HEADS.values(), ids=HEADS)
def test_keys_and_values_are_written_as_the_cache_writes_them(heads, dtype):
    shape = LayerShape(heads.num_kv_heads, heads.key_dim, heads.value_dim, dtype)
    ours, plain = (LayerCache(shape, 5, BLOCK_SIZE, CPU) for _ in range(2))
    key = torch.randn(heads.num_kv_heads, 3, heads.key_dim).to(dtype).transpose(0, 1)
    value = torch.randn(3, heads.num_kv_heads + 2, heads.value_dim).to(dtype)[:, 2:]
    slots = torch.tensor([17, 2, 8])

    TritonAttention(BLOCK_SIZE, CPU).write(ours, slots, key, value)
    plain.write(slots, key, value)

    assert ours.entries.equal(plain.entries)
