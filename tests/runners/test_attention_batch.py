"""Rows of a pass as tensors."""

from __future__ import annotations

import torch

from engine.runners.attention.attention_batch import batch_decode, batch_spans
from engine.runners.inputs.pack import Span
from tests.runners.passes import CPU, empty_batch


def test_rows_are_described_in_int32_with_their_tables_padded():
    spans = [Span(0, 1, 9, 10, [7, 3, 5]), Span(1, 1, 1, 2, [4]), Span(2, 6, 0, 6, [1, 2, 99])]

    batch = batch_spans(spans, block_size=4, device=CPU)

    assert batch.block_tables.tolist() == [[7, 3, 5], [4, 0, 0], [1, 2, 0]]
    assert batch.kv_lens.tolist() == [10, 2, 6]
    assert batch.num_computed.tolist() == [9, 1, 0]
    assert batch.query_starts.tolist() == [0, 1, 2, 8]
    assert (batch.num_rows, batch.num_tokens, batch.num_single) == (3, 8, 2)
    assert (batch.max_query_len, batch.max_kv_len, batch.is_decode) == (6, 10, False)
    assert {batch.block_tables.dtype, batch.kv_lens.dtype} == {torch.int32}


def test_rows_of_one_token_are_a_decoding_pass():
    assert batch_spans([Span(0, 1, 9, 10, [7, 3, 5])], 4, CPU).is_decode


def test_a_captured_pass_is_described_by_the_callers_own_tensors():
    decode = empty_batch(3, max_blocks=8)

    batch = batch_decode(decode, block_size=16)

    assert batch.block_tables is decode.block_tables
    assert batch.kv_lens is decode.kv_lens
    assert batch.query_starts is decode.query_starts
    assert (batch.num_rows, batch.num_tokens, batch.is_decode) == (3, 3, True)
    assert (batch.max_query_len, batch.max_kv_len) == (1, 8 * 16)
