"""How spans are cut into pieces: whose blocks, which masks, how large a group."""

from __future__ import annotations

from typing import Any

import torch

from engine.runners.attention.pieces import Cutter
from engine.runners.inputs.pack import Span

HIDDEN = float("-inf")


def make_cutter(**changed: Any) -> Cutter:
    defaults = {
        "block_size": 4,
        "window": None,
        "num_groups": 2,
        "group_tokens": 1000,
        "padding_tokens": 1000,
        "needs_masks": False,
        "dtype": torch.float32,
        "device": torch.device("cpu"),
    }
    return Cutter(**defaults | changed)


def test_decodes_are_padded_to_the_longest_with_blocks_of_their_own():
    short, long = Span(0, 1, 2, 3, [7]), Span(1, 1, 5, 6, [3, 9])

    (piece,) = make_cutter().cut([short, long])

    assert (piece.num_rows, piece.width, piece.tokens) == (2, 1, slice(0, 2))
    assert piece.blocks.tolist() == [7, 7, 3, 9]
    assert piece.mask.tolist() == [
        [[[0, 0, 0, HIDDEN, HIDDEN, HIDDEN, HIDDEN, HIDDEN]]],
        [[[0, 0, 0, 0, 0, 0, HIDDEN, HIDDEN]]],
    ]


def test_a_group_gathers_no_more_than_its_share():
    spans = [Span(index, 1, 7, 8, [index, index]) for index in range(5)]

    pieces = make_cutter(group_tokens=16).cut(spans)

    assert [piece.num_rows for piece in pieces] == [2, 2, 1]
    assert [piece.tokens for piece in pieces] == [slice(0, 2), slice(2, 4), slice(4, 5)]


def test_a_group_holds_no_more_padding_than_its_share():
    lengths = [4, 4, 8, 12, 16]
    spans = [Span(i, 1, length - 1, length, [i] * 4) for i, length in enumerate(lengths)]

    pieces = make_cutter(padding_tokens=8).cut(spans)

    assert [piece.num_rows for piece in pieces] == [3, 2]
    assert pieces[0].blocks.tolist() == [0, 0, 1, 1, 2, 2]


def test_a_row_larger_than_a_share_is_a_group_of_its_own():
    spans = [Span(0, 1, 39, 40, list(range(10))), Span(1, 1, 39, 40, list(range(10, 20)))]

    assert [piece.num_rows for piece in make_cutter(group_tokens=1).cut(spans)] == [1, 1]


def test_prompts_of_one_width_attend_together_with_no_cache_and_no_mask():
    (piece,) = make_cutter(group_tokens=1).cut([Span(0, 3, 0, 3, [0]), Span(3, 3, 0, 2, [1])])

    assert (piece.num_rows, piece.width, piece.tokens) == (2, 3, slice(0, 6))
    assert piece.blocks is None
    assert piece.mask is None


def test_a_chunks_mask_is_repeated_for_each_head_of_a_group():
    (piece,) = make_cutter().cut([Span(0, 2, 1, 3, [5])])

    assert piece.blocks.tolist() == [5]
    assert piece.mask.tolist() == [[[[0, 0, HIDDEN, HIDDEN], [0, 0, 0, HIDDEN]] * 2]]


def test_blocks_before_the_window_are_not_gathered():
    (piece,) = make_cutter(window=3).cut([Span(0, 1, 9, 10, [5, 6, 7])])

    assert piece.blocks.tolist() == [6, 7]
    assert piece.mask.tolist() == [[[[HIDDEN] * 3 + [0] * 3 + [HIDDEN] * 2]]]


def test_a_window_masks_a_prompt():
    (piece,) = make_cutter(window=2).cut([Span(0, 3, 0, 3, [0])])

    rows = [[0, HIDDEN, HIDDEN], [0, 0, HIDDEN], [HIDDEN, 0, 0]]
    assert piece.blocks is None
    assert piece.mask.tolist() == [[rows * 2]]


def test_blocks_held_in_reserve_are_not_gathered():
    (piece,) = make_cutter().cut([Span(0, 1, 4, 5, [1, 2, 3, 4, 5, 6])])

    assert piece.blocks.tolist() == [1, 2]
