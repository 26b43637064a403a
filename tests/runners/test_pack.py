"""How the rows of a plan become one flat input."""

from __future__ import annotations

from engine.plan import Plan, Row
from engine.request import Request, Sequence, Status
from engine.runners.pack import Span, pack

SCRATCH = 99


def make_row(
    prompt: tuple[int, ...], blocks: list[int], num_tokens: int, num_computed: int = 0
) -> Row:
    seq = Sequence(Request("r", prompt))
    seq.block_table = blocks
    seq.num_computed = num_computed
    return Row(seq, num_tokens)


def test_a_prompt_goes_to_the_slots_of_its_blocks():
    packed = pack(Plan((make_row((7, 8, 9), [5, 2], 3),)), block_size=2, scratch_slot=SCRATCH)

    assert packed.token_ids == [7, 8, 9]
    assert packed.positions == [0, 1, 2]
    assert packed.write_slots == [10, 11, 4]
    assert packed.spans == [Span(0, 3, 0, 3, [5, 2])]
    assert packed.sample_at == [2]


def test_a_chunk_goes_on_where_the_last_one_ended_and_samples_nothing():
    packed = pack(Plan((make_row((7, 8, 9, 6), [5, 2], 2, num_computed=1),)), 2, SCRATCH)

    assert packed.token_ids == [8, 9]
    assert packed.positions == [1, 2]
    assert packed.write_slots == [11, 4]
    assert packed.spans == [Span(0, 2, 1, 3, [5, 2])]
    assert packed.sample_at == []


def test_rows_of_like_width_and_length_become_neighbours_and_sample_in_their_own_order():
    long = make_row((1, 2, 3, 4), [0, 1], 1, num_computed=3)
    prompt = make_row((5, 6), [2], 2)
    short = make_row((7, 8), [3], 1, num_computed=1)

    packed = pack(Plan((long, prompt, short)), 2, SCRATCH)

    assert packed.token_ids == [8, 4, 5, 6]
    assert packed.sample_at == [1, 3, 0]


def test_a_rectangular_plan_is_padded_to_its_longest_row():
    rows = (make_row((1, 2, 3), [0, 1], 3), make_row((4,), [2], 1))

    packed = pack(Plan(rows, rectangular=True), 2, SCRATCH)

    assert packed.token_ids == [4, 0, 0, 1, 2, 3]
    assert packed.positions == [0, 0, 0, 0, 1, 2]
    assert packed.write_slots == [4, SCRATCH, SCRATCH, 0, 1, 2]
    assert packed.spans == [Span(0, 3, 0, 1, [2]), Span(3, 3, 0, 3, [0, 1])]
    assert packed.sample_at == [5, 0]


def test_a_dead_row_computes_its_newest_token_over_its_own_context():
    dead = make_row((1, 2, 3), [0, 1], 0, num_computed=2)
    dead.seq.move_to(Status.RUNNING)
    dead.seq.move_to(Status.FINISHED)

    packed = pack(Plan((dead, make_row((4,), [2], 1)), rectangular=True), 2, SCRATCH)

    assert packed.token_ids == [4, 3]
    assert packed.positions == [0, 2]
    assert packed.write_slots == [4, SCRATCH]
    assert packed.spans[1] == Span(1, 1, 2, 2, [0, 1])
    assert packed.sample_at == [0]
