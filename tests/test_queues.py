from __future__ import annotations

from engine.queues import Preemption, Queues
from engine.request import Sequence, Status
from tests.builders import make_queues, queue_up


def make_running(*lengths: int) -> Queues:
    """Queues whose every sequence runs and holds the blocks of its prompt."""
    queues = make_queues(*lengths, num_blocks=16)
    while queues.waiting:
        seq = queues.admit()
        queues.pool.grow(seq, seq.num_tokens)
        seq.num_computed = seq.num_tokens
    return queues


def finish(seq: Sequence) -> None:
    seq.move_to(Status.FINISHED)


def slots(queues: Queues) -> dict[str, int | None]:
    return {seq.id: seq.slot for seq in queues.running}


def test_admission_is_first_come_first_served_into_the_lowest_slot():
    queues = make_running(4, 4, 4)
    assert slots(queues) == {"r0": 0, "r1": 1, "r2": 2}
    assert all(seq.status is Status.RUNNING for seq in queues.running)


def test_the_lowest_free_slot_is_reused_and_nobody_else_moves():
    queues = make_running(4, 4, 4)
    finish(queues.running[0])
    finish(queues.running[1])
    queues.retire_finished()
    queue_up(queues, 4, 4, 4)
    for _ in range(3):
        queues.admit()
    assert [seq.slot for seq in queues.running] == [2, 0, 1, 3]


def test_a_finished_sequence_holds_slot_and_blocks_until_it_is_retired():
    queues = make_running(4, 8)
    seq = queues.running[1]
    finish(seq)
    assert (seq.slot, seq.block_table, queues.pool.num_free) == (1, [1, 2], 13)
    queues.retire_finished()
    assert (seq.slot, seq.block_table, queues.pool.num_free) == (None, [], 15)
    assert slots(queues) == {"r0": 0}


def test_the_preempted_go_to_the_front_of_the_queue_with_nothing_computed():
    queues = make_running(4, 8)
    queue_up(queues, 4)
    seq = queues.running[1]
    queues.preempt(seq)
    assert queues.waiting[0] is seq
    assert (seq.status, seq.num_computed, seq.num_preemptions) == (Status.PREEMPTED, 0, 1)
    assert (seq.slot, seq.block_table, queues.pool.num_free) == (None, [], 15)


def test_preemptions_are_told_once_with_what_was_lost():
    queues = make_running(4, 8)
    queues.preempt(queues.running[1])
    queues.preempt(queues.running[0])
    assert queues.take_preemptions() == (Preemption("r1", 1, 8), Preemption("r0", 0, 4))
    assert queues.take_preemptions() == ()
    assert [seq.id for seq in queues.waiting] == ["r0", "r1"]


def test_the_live_are_those_who_run_and_then_those_who_wait():
    queues = make_running(4, 4)
    queue_up(queues, 4)
    finish(queues.running[0])
    assert queues.live() == [queues.running[1], queues.waiting[0]]


def test_removing_a_running_sequence_gives_back_all_it_holds():
    queues = make_running(4, 8)
    queues.remove(queues.running[0])
    assert (slots(queues), queues.pool.num_free) == ({"r1": 1}, 14)


def test_removing_a_waiting_sequence_leaves_the_running_ones_alone():
    queues = make_running(4)
    queue_up(queues, 4, 4)
    queues.remove(queues.waiting[0])
    assert [seq.id for seq in queues.waiting] == ["r1"]
    assert (slots(queues), queues.pool.num_free) == ({"r0": 0}, 15)
