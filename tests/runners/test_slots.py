"""What the host keeps of a slot follows its sequence, its blocks and its cache."""

from __future__ import annotations

from typing import Any

import pytest

from engine.plan import RunnerError
from engine.request import Request, SamplingParams, Sequence, Status
from engine.runners.inputs.slots import SlotTable

SCRATCH = 200


def make_seq(slot: int, blocks: list[int], **sampling: Any) -> Sequence:
    seq = Sequence(Request(f"in {slot}", (1, 2), SamplingParams(**sampling)))
    seq.move_to(Status.RUNNING)
    seq.slot, seq.block_table = slot, blocks
    return seq


def blocks_of(table: SlotTable, slot: int, count: int) -> list[int]:
    return table.blocks[slot, :count].tolist()


def test_blocks_are_followed_as_they_grow_and_the_rest_is_scratch():
    table, seq = SlotTable(16, SCRATCH), make_seq(1, [4, 7])
    table.update(seq)
    seq.block_table.append(2)

    assert table.update(seq) == 1
    assert blocks_of(table, 1, 5) == [4, 7, 2, SCRATCH, SCRATCH]


def test_nothing_is_left_of_the_sequence_before():
    table = SlotTable(16, SCRATCH)
    table.update(make_seq(0, [4, 7, 3], temperature=1.0))

    table.update(make_seq(0, [5]))

    assert blocks_of(table, 0, 3) == [5, SCRATCH, SCRATCH]
    assert table.parameters[0].tolist() == [0, 1, 0, 0]


def test_a_sequence_that_was_preempted_comes_back_with_other_blocks():
    table, seq = SlotTable(16, SCRATCH), make_seq(0, [4, 7])
    table.update(seq)
    seq.num_preemptions, seq.block_table = 1, [8, 9]

    table.update(seq)

    assert blocks_of(table, 0, 2) == [8, 9]


@pytest.mark.parametrize("block", [SCRATCH, SCRATCH + 7, -1])
def test_a_block_that_the_cache_does_not_have_is_refused_by_its_number(block):
    table, seq = SlotTable(16, SCRATCH), make_seq(0, [4, 199])
    table.update(seq)
    seq.block_table.append(block)

    for _ in range(2):  # it is not forgotten that it was wrong
        with pytest.raises(RunnerError, match=f"block {block} of in 0 is none of the cache, which"):
            table.update(seq)
    seq.block_table[2] = 0
    table.update(seq)
    assert blocks_of(table, 0, 3) == [4, 199, 0]


def test_there_is_room_for_any_slot_and_any_number_of_blocks():
    table = SlotTable(16, SCRATCH)
    table.update(make_seq(2, [3]))
    table.update(make_seq(70, list(range(100))))

    assert blocks_of(table, 70, 101) == [*range(100), SCRATCH]
    assert blocks_of(table, 2, 2) == [3, SCRATCH]


def test_parameters_are_those_of_the_request_within_what_a_device_can_hold():
    table = SlotTable(16, SCRATCH)
    table.update(make_seq(0, [1], temperature=1e-39, top_k=10**12, top_p=0.5, min_p=0.25))

    temperature, top_p, min_p, top_k = table.parameters[0].tolist()

    assert (top_p, min_p, top_k) == (0.5, 0.25, 2**24)
    assert temperature == pytest.approx(0.01)


def test_ends_are_ruled_out_while_a_sequence_must_not_end():
    table = SlotTable(16, SCRATCH, frozenset({0}))
    young = make_seq(0, [1], min_tokens=1, stop_token_ids=frozenset({5}))
    endless = make_seq(1, [2], ignore_eos=True)
    for seq in (young, endless):
        table.update(seq)

    assert table.rule_out([1, 0]) == {0: {0}, 1: {0, 5}}
    young.token_ids.append(7)
    assert table.rule_out([1, 0]) == {0: {0}}
