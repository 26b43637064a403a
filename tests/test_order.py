"""Who of the waiting comes first, under each policy; and that aging lets nobody starve."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.blocks import BlockPool
from engine.order import Order
from engine.queues import Queues
from engine.request import Request, SamplingParams, Sequence
from engine.settings import SchedulingPolicy

FCFS, PRIORITY, SJF_PROMPT, SJF_MAX_TOKENS = SchedulingPolicy


def make_seq(name: str, prompt: int = 4, most: int = 4, at: float = 0.0, priority: int = 0):
    sampling = SamplingParams(max_tokens=most)
    return Sequence(Request(name, (1,) * prompt, sampling, at, priority=priority))


def line_up(order: Order, *seqs: Sequence) -> list[str]:
    """The queue once all have come, in the order in which they are named here."""
    queues = Queues(BlockPool(8), order)
    for seq in seqs:
        queues.enqueue(seq)
    return [seq.id for seq in queues.waiting]


ALL = (
    {"name": "long", "prompt": 90, "most": 9, "priority": 1},
    {"name": "short", "prompt": 5, "most": 50, "priority": 1},
    {"name": "vip", "prompt": 60, "most": 30, "priority": 0},
)


@pytest.mark.parametrize(
    ("policy", "first_to_last"),
    [
        (FCFS, ["long", "short", "vip"]),
        (PRIORITY, ["vip", "long", "short"]),
        (SJF_PROMPT, ["short", "vip", "long"]),
        (SJF_MAX_TOKENS, ["long", "vip", "short"]),
    ],
)
def test_each_policy_has_its_own_order(policy, first_to_last):
    assert line_up(Order(policy), *(make_seq(**each) for each in ALL)) == first_to_last


def test_equals_are_served_in_the_order_in_which_they_came():
    seqs = [make_seq(name, at=at) for name, at in (("a", 3.0), ("b", 1.0), ("c", 2.0))]
    for policy in SchedulingPolicy:
        assert line_up(Order(policy), *seqs) == ["a", "b", "c"]


def test_a_second_of_waiting_is_worth_as_much_as_aging_says():
    old = make_seq("old", priority=2, at=0.0)
    assert line_up(Order(PRIORITY, 1.0), old, make_seq("new", at=1.9)) == ["new", "old"]
    assert line_up(Order(PRIORITY, 1.0), old, make_seq("new", at=2.1)) == ["old", "new"]
    big = make_seq("big", prompt=100)
    assert line_up(Order(SJF_PROMPT, 10.0), big, make_seq("small", at=9.0)) == ["small", "big"]
    assert line_up(Order(SJF_PROMPT, 10.0), big, make_seq("small", at=9.7)) == ["big", "small"]


def test_the_delayed_let_others_of_their_level_and_above_pass():
    seqs = [make_seq("a", priority=1), make_seq("b", priority=1), make_seq("low", priority=2)]
    queues = Queues(BlockPool(8), Order(PRIORITY))
    for seq in seqs:
        queues.enqueue(seq)
    queues.delay(seqs[0], 1.0)
    assert [seq.id for seq in queues.waiting] == ["b", "a", "low"]


@pytest.mark.parametrize("policy", SchedulingPolicy)
def test_with_aging_the_delayed_stand_as_if_they_had_come_when_they_were_delayed(policy):
    queues = Queues(BlockPool(8), Order(policy, 2.0))
    for at in (0.0, 1.0, 2.0, 4.0):
        queues.enqueue(make_seq(f"at {at:.0f}", at=at))
    queues.delay(queues.waiting[0], 3.0)
    assert [seq.id for seq in queues.waiting] == ["at 1", "at 2", "at 0", "at 4"]


def test_who_is_preempted_stands_where_the_policy_says():
    queues = Queues(BlockPool(8), Order(PRIORITY))
    for name, priority in (("a", 5), ("b", 1), ("c", 9)):
        queues.enqueue(make_seq(name, priority=priority))
    b, a = queues.admit(), queues.admit()
    queues.preempt(a)
    queues.preempt(b)
    assert [seq.id for seq in queues.waiting] == ["b", "a", "c"]


def test_another_policy_orders_those_who_wait_already():
    queues = Queues(BlockPool(8))
    for each in ALL:
        queues.enqueue(make_seq(**each))
    queues.reorder(Order(SJF_PROMPT))
    assert [seq.id for seq in queues.waiting] == ["short", "vip", "long"]
    queues.reorder(Order())
    assert [seq.id for seq in queues.waiting] == ["long", "short", "vip"]


@given(
    policy=st.sampled_from(SchedulingPolicy),
    aging=st.floats(0.5, 10.0),
    worst=st.integers(2, 30),
    gap=st.floats(0.1, 2.0),
    timeout=st.none() | st.floats(0.1, 20.0),
)
def test_with_aging_nobody_is_passed_for_ever(policy, aging, worst, gap, timeout):
    """One is served a `gap`, and just before that somebody better comes, without end."""
    queues = Queues(BlockPool(8), Order(policy, aging))
    victim = make_seq("victim", worst, worst, 0.0, priority=worst)
    queues.enqueue(victim)
    most = int((worst / aging + (timeout or 0.0)) / gap) + 2
    for turn in range(1, most + 1):
        if timeout and victim.delayed_at is None and turn * gap >= timeout:
            queues.delay(victim, timeout)
        queues.enqueue(make_seq(f"better-{turn}", 1, 1, turn * gap, priority=1))
        if queues.admit() is victim:
            return
    raise AssertionError(f"still waiting after {most} others were served")


def test_without_aging_it_can_be():
    queues = Queues(BlockPool(8), Order(PRIORITY))
    queues.enqueue(make_seq("victim", priority=2))
    for turn in range(500):
        queues.enqueue(make_seq(f"better-{turn}", at=float(turn), priority=1))
        assert queues.admit().id != "victim"


@given(st.lists(st.integers(0, 5), max_size=12), st.sampled_from(SchedulingPolicy))
def test_the_queue_is_always_sorted_by_rank(priorities, policy):
    queues = Queues(BlockPool(8), Order(policy, 0.5))
    for at, priority in enumerate(priorities):
        queues.enqueue(make_seq(f"r{at}", 1 + priority, 6 - priority, float(at), priority=priority))
        if at % 3 == 2:
            queues.preempt(queues.admit())
    ranks = [queues.order.rank(seq) for seq in queues.waiting]
    assert ranks == sorted(ranks)
