"""How the rows of a plan lie side by side, and what the device is told of each token."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from engine.plan import Plan, Row, RunnerError
from engine.request import PENDING, Request, Sequence, Status
from engine.runners.inputs.fields import Shape
from engine.runners.inputs.fill import fill
from engine.runners.inputs.pack import Packed, Span, pack
from engine.runners.inputs.slots import SlotTable
from engine.runners.inputs.staging import Staging
from engine.runners.sampling.sample import Draw

SCRATCH_BLOCK = 50
SCRATCH = 2 * SCRATCH_BLOCK


def make_row(
    prompt: tuple[int, ...], blocks: list[int], num_tokens: int, num_computed: int = 0
) -> Row:
    seq = Sequence(Request("r", prompt))
    seq.block_table, seq.slot = blocks, blocks[0]
    seq.num_computed = num_computed
    return Row(seq, num_tokens)


def send(
    *rows: Row,
    is_rectangular: bool = False,
    num_padding: int = 0,
    num_blocks: int = 0,
    sources: dict[Sequence, int] | None = None,
) -> tuple[Packed, dict[str, Any]]:
    """The pass, with blocks of two tokens, and the fields as the device gets them."""
    slots, staging = SlotTable(2, SCRATCH_BLOCK), Staging(torch.device("cpu"))
    packed = pack(Plan(rows, rectangular=is_rectangular), slots)
    num_rows = len(packed.sampling) + num_padding
    shape = Shape(packed.num_tokens + num_padding, num_rows, num_blocks=num_blocks)
    fill(staging.open(shape), packed, slots, sources or {}, Draw.RANDOM)
    fields = staging.send(shape)
    return packed, {name: getattr(fields, name).tolist() for name in fields.__slots__}


def test_a_prompt_goes_to_the_slots_of_its_blocks():
    packed, fields = send(make_row((7, 8, 9), [5, 2], 3))

    assert fields["token_ids"] == [7, 8, 9]
    assert fields["positions"] == [0, 1, 2]
    assert fields["write_slots"] == [10, 11, 4]
    assert packed.spans() == [Span(0, 3, 0, 3, [5, 2])]
    assert fields["sample_at"] == [2]


def test_a_chunk_goes_on_where_the_last_one_ended_and_samples_nothing():
    packed, fields = send(make_row((7, 8, 9, 6), [5, 2], 2, num_computed=1))

    assert fields["token_ids"] == [8, 9]
    assert fields["positions"] == [1, 2]
    assert fields["write_slots"] == [11, 4]
    assert packed.spans() == [Span(0, 2, 1, 3, [5, 2])]
    assert fields["sample_at"] == []


def test_rows_of_like_width_and_length_become_neighbours_and_sample_in_their_own_order():
    long = make_row((1, 2, 3, 4), [0, 1], 1, num_computed=3)
    prompt = make_row((5, 6), [2], 2)
    short = make_row((7, 8), [3], 1, num_computed=1)

    packed, fields = send(long, prompt, short)

    assert fields["token_ids"] == [8, 4, 5, 6]
    assert fields["sample_at"] == [1, 3, 0]
    assert packed.sampling == [long.seq, prompt.seq, short.seq]


def test_a_rectangular_plan_is_padded_to_its_longest_row():
    rows = make_row((1, 2, 3), [0, 1], 3), make_row((4,), [2], 1)

    packed, fields = send(*rows, is_rectangular=True)

    assert fields["token_ids"] == [4, 0, 0, 1, 2, 3]
    assert fields["positions"] == [0, 0, 0, 0, 1, 2]
    assert fields["write_slots"] == [4, SCRATCH, SCRATCH, 0, 1, 2]
    assert packed.spans() == [Span(0, 3, 0, 1, [2]), Span(3, 3, 0, 3, [0, 1])]
    assert fields["sample_at"] == [5, 0]


def make_dead_row(prompt: tuple[int, ...], blocks: list[int]) -> Row:
    dead = make_row(prompt, blocks, 0, num_computed=len(prompt) - 1)
    dead.seq.move_to(Status.RUNNING)
    dead.seq.move_to(Status.FINISHED)
    return dead


def test_a_dead_row_computes_its_newest_token_over_its_own_context():
    rows = make_dead_row((1, 2, 3), [0, 1]), make_row((4,), [2], 1)

    packed, fields = send(*rows, is_rectangular=True)

    assert fields["token_ids"] == [4, 3]
    assert fields["positions"] == [0, 2]
    assert fields["write_slots"] == [4, SCRATCH]
    assert packed.spans()[1] == Span(1, 1, 2, 2, [0, 1])
    assert fields["sample_at"] == [0]


def test_a_decoding_pass_carries_block_tables_and_its_padding_sees_the_scratch_block_alone():
    rows = make_dead_row((1, 2, 3), [0, 1]), make_row((4, 5), [2], 1, num_computed=1)

    _, fields = send(*rows, is_rectangular=True, num_padding=2, num_blocks=3)

    assert fields["token_ids"] == [5, 3, 0, 0]
    assert fields["write_slots"] == [5, SCRATCH, SCRATCH, SCRATCH]
    padding = [SCRATCH_BLOCK] * 3
    assert fields["block_tables"] == [[2, 50, 50], [0, 1, 50], padding, padding]
    assert fields["kv_lens"] == [2, 2, 1, 1]


def test_a_token_that_is_under_way_is_left_to_the_device_with_its_place():
    known, pending = make_row((1,), [0], 1), make_row((2, 3), [1], 1, num_computed=1)
    pending.seq.token_ids[-1] = PENDING

    _, fields = send(known, pending, sources={pending.seq: 7})

    assert fields["sources"] == [-1, 7]


def test_a_token_that_nobody_sampled_cannot_be_taken_over():
    row = make_row((2, 3), [1], 1, num_computed=1)
    row.seq.token_ids[-1] = PENDING

    with pytest.raises(RunnerError, match="a token of r is pending that the last pass did not"):
        send(row)


@pytest.mark.parametrize(("num_computed", "num_tokens"), [(4, 1), (0, 5), (3, 2), (5, 0)])
def test_a_row_that_would_write_or_read_beyond_its_blocks_is_refused(num_computed, num_tokens):
    row = make_row((7,) * 9, [5, 2], num_tokens, num_computed)
    with pytest.raises(
        RunnerError, match="r needs room for 5 tokens and has 2 blocks of 2: its bl"
    ):
        send(row)


def test_a_row_whose_last_block_is_full_is_not():
    assert send(make_row((7,) * 9, [5, 2], 1, num_computed=3))[1]["write_slots"] == [5]
