from __future__ import annotations

from engine.plan import Done, Plan, Row
from engine.request import Sequence, Status
from tests.builders import ask


def make_seq(num_prompt_tokens: int, num_computed: int = 0, num_outputs: int = 0) -> Sequence:
    seq = Sequence(ask(num_prompt_tokens=num_prompt_tokens))
    seq.token_ids += [7] * num_outputs
    seq.num_computed = num_computed
    return seq


def dead_row() -> Row:
    seq = make_seq(4, num_computed=4, num_outputs=1)
    seq.status = Status.FINISHED
    return Row(seq, 0)


def decode_row() -> Row:
    return Row(make_seq(4, num_computed=4, num_outputs=1), 1)


def test_a_row_samples_only_if_it_reaches_the_end_of_its_sequence():
    assert Row(make_seq(5), 5).samples
    assert not Row(make_seq(5), 4).samples
    assert Row(make_seq(5, num_computed=4), 1).samples
    assert decode_row().samples


def test_the_last_chunk_of_a_resumed_sequence_samples_and_earlier_ones_do_not():
    assert not Row(make_seq(4, num_computed=0, num_outputs=3), 4).samples
    assert Row(make_seq(4, num_computed=4, num_outputs=3), 3).samples


def test_a_dead_row_never_samples():
    assert not dead_row().samples


def test_a_packed_plan_computes_useful_tokens_only():
    plan = Plan((Row(make_seq(5), 5), Row(make_seq(2), 2), decode_row()))
    assert (plan.num_tokens, plan.num_slots, plan.width) == (8, 8, 5)


def test_a_rectangular_plan_pads_every_row_to_the_longest():
    plan = Plan((Row(make_seq(5), 5), Row(make_seq(2), 2), dead_row()), rectangular=True)
    assert (plan.num_tokens, plan.num_slots, plan.width) == (7, 15, 5)


def test_an_empty_plan_computes_nothing():
    plan = Plan(rectangular=True)
    assert (plan.num_tokens, plan.num_slots, plan.width) == (0, 0, 0)


def test_a_pass_that_is_done_gives_its_tokens():
    assert Done([3, 5]).result() == [3, 5]
