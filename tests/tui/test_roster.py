"""Where each request is: in line, in a slot, or gone."""

from __future__ import annotations

import pytest

from engine.events import Work
from engine.plan import SkipReason
from engine.request import FinishReason, Request, SamplingParams
from engine.settings import SchedulingPolicy, TimeoutAction
from tests.builders import ask
from tests.tui.stage import StageBackend, played
from tuiapp.view.phases import Phase
from tuiapp.view.roster import NUM_REMEMBERED
from tuiapp.view.viewmodel import ViewModel


def test_a_request_waits_runs_and_leaves_its_slot():
    backend, viewmodel, before = played(
        ask("a", max_tokens=2), ask("b", max_tokens=9), num_passes=0
    )
    assert [view.id for view in before.waiting] == ["a", "b"]
    assert before.slots == (None,) * 8
    backend.run(2)
    during = viewmodel.poll(backend.now())
    assert [view and view.id for view in during.slots[:3]] == ["a", "b", None]
    assert during.waiting == ()
    backend.run(1)
    after = viewmodel.poll(backend.now())
    assert [view and view.id for view in after.slots[:3]] == [None, "b", None]


def test_a_preempted_request_goes_back_to_the_front_of_the_queue():
    requests = [ask(name, 30, max_tokens=40) for name in "abc"]
    backend, viewmodel, snapshot = played(*requests, num_passes=0, num_kv_blocks=7)
    while not viewmodel.poll(backend.now()).meters.num_preemptions:
        backend.run(1)
    snapshot = viewmodel.poll(backend.now())
    assert snapshot.waiting[0].id == snapshot.last_preempted == "c"
    assert snapshot.waiting[0].num_preemptions == 1
    assert snapshot.skipped[0].reason is SkipReason.BLOCKS
    assert any(cell and cell.phase is Phase.EVICTED for cell in snapshot.columns[-1].cells)


def test_who_comes_back_in_another_slot_has_left_the_old_one():
    requests = [ask(name, 30, max_tokens=40) for name in "abcd"]
    backend, viewmodel, snapshot = played(*requests, num_passes=0, num_kv_blocks=7)
    while backend.run(1):
        snapshot = viewmodel.poll(backend.now())
        owners = [snapshot.owners(slot) for slot in range(len(snapshot.slots))]
        running = {owner.id for owner, _ in owners if owner}
        left = {last.id for owner, last in owners if last and not owner and not last.reason}
        assert not running & left


def test_an_abort_takes_the_request_off_the_screen():
    backend, viewmodel, _ = played(ask("a", max_tokens=50), ask("b", max_tokens=50), num_passes=3)
    backend.abort("a")
    backend.run(1)
    snapshot = viewmodel.poll(backend.now())
    assert [view and view.id for view in snapshot.slots[:2]] == [None, "b"]
    assert viewmodel.request("a").reason is FinishReason.ABORT


def test_what_has_ended_is_forgotten_beyond_some_hundreds():
    requests = [ask(f"r{number}", max_tokens=1) for number in range(NUM_REMEMBERED + 50)]
    _, viewmodel, _ = played(*requests, num_passes=1000)
    assert viewmodel.request("r0") is None
    assert viewmodel.request(f"r{NUM_REMEMBERED + 49}").work is not Work.PREFILL


@pytest.mark.parametrize("policy", SchedulingPolicy)
def test_the_queue_stands_in_the_order_of_the_engine(policy):
    backend = StageBackend(scheduling_policy=policy, aging=3.0, max_num_seqs=2, num_kv_blocks=12)
    viewmodel = ViewModel(backend.log)
    for number in range(14):
        sampling = SamplingParams(max_tokens=5 + number * 7 % 40)
        prompt = (1,) * (8 + number * 29 % 60)
        backend.submit(Request(f"r{number}", prompt, sampling, priority=number * 5 % 4))
    for _ in range(80):
        backend.run(1)
        waiting = [seq.id for seq in backend.core.queues.waiting]
        assert [view.id for view in viewmodel.poll(backend.now()).waiting] == waiting


@pytest.mark.parametrize(
    ("aging", "in_line"), [(0.0, ["late", "b", "c"]), (5.0, ["b", "c", "late"])]
)
def test_those_who_let_others_pass_stand_behind_them_or_age_anew(aging, in_line):
    backend = StageBackend(
        max_num_seqs=1,
        aging=aging,
        default_queue_timeout_ms=100.0,
        timeout_action=TimeoutAction.DELAY,
    )
    viewmodel = ViewModel(backend.log)
    for name in ("a", "b", "c"):
        backend.submit(Request(name, (1,) * 8, SamplingParams(max_tokens=99)))
    backend.run(12)
    backend.submit(Request("late", (1,) * 8, SamplingParams(max_tokens=9)))
    backend.run(1)
    waiting = [seq.id for seq in backend.core.queues.waiting]
    shown = [view.id for view in viewmodel.poll(backend.now()).waiting]
    assert shown == waiting == in_line
