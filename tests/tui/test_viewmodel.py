"""The fold from the log to the frame."""

from __future__ import annotations

import pytest

from engine.backends.base import Backend
from engine.events import Configured, Ready, Step, Work
from engine.log import CHUNK, EventLog
from engine.metrics import Metrics
from engine.plan import SkipReason
from engine.request import FinishReason, Request, SamplingParams
from engine.settings import BatcherName, SchedulingPolicy, TimeoutAction
from tests.builders import make_core
from tests.tui.stage import StageBackend
from tuiapp.view.phases import Phase
from tuiapp.view.viewmodel import NUM_REMEMBERED, ViewModel


def ask(request_id, num_prompt_tokens=4, max_tokens=4, **sampling):
    prompt = (1,) * num_prompt_tokens
    return Request(request_id, prompt, SamplingParams(max_tokens=max_tokens, **sampling))


def played(*requests, num_passes=1, **knobs):
    """A backend that has run, and the frame after it."""
    backend = StageBackend(**knobs)
    for request in requests:
        backend.submit(request)
    backend.run(num_passes)
    viewmodel = ViewModel(backend.log)
    return backend, viewmodel, viewmodel.poll(backend.now())


def phases(snapshot, slot):
    return [cell.phase if (cell := column.cell(slot)) else None for column in snapshot.columns]


def test_a_stage_is_a_whole_backend():
    backend: Backend = StageBackend()
    assert backend.now() == 0.0


def test_before_the_engine_is_ready_there_is_no_info():
    viewmodel = ViewModel(StageBackend().log)
    viewmodel._position = 99  # as if nothing had been written yet
    assert viewmodel.poll(0.0).info is None


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


def test_the_phases_of_a_short_life_are_prefill_decode_last():
    _, _, snapshot = played(ask("a", 130, max_tokens=3), num_passes=5)
    assert phases(snapshot, 0) == [Phase.PREFILL] * 3 + [Phase.DECODE, Phase.LAST]


def test_a_finished_row_of_a_static_batch_is_held_until_the_longest_is_done():
    requests = [ask("short", max_tokens=2), ask("long", max_tokens=5)]
    _, _, snapshot = played(*requests, num_passes=5, batcher=BatcherName.STATIC, max_batch_size=2)
    assert phases(snapshot, 0) == [Phase.PREFILL, Phase.LAST, Phase.HELD, Phase.HELD, Phase.HELD]
    assert snapshot.meters.held_share == 0.3


def test_undelivered_text_is_told_from_delivered_text():
    knobs = {"batcher": BatcherName.STATIC, "max_batch_size": 2}
    requests = [ask("short", max_tokens=2), ask("long", max_tokens=5)]
    backend, viewmodel, during = played(*requests, num_passes=4, **knobs)
    view = during.slots[0]
    assert (view.num_output_tokens, view.num_delivered, view.is_delivered) == (2, 0, False)
    assert view.reason is FinishReason.LENGTH
    backend.run(1)
    viewmodel.poll(backend.now())
    view = viewmodel.request("short")
    assert (view.num_delivered, view.is_delivered) == (2, True)
    assert view.ttft == view.e2e == backend.now()


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


def test_block_owners_are_those_of_the_block_tables():
    requests = [ask(name, 40, max_tokens=30) for name in "abc"]
    backend, viewmodel, _ = played(*requests, num_passes=0, num_kv_blocks=12)
    for _ in range(60):
        backend.run(1)
        owners = viewmodel.poll(backend.now()).block_owners
        tables = {seq.id: set(seq.block_table) for seq in backend.core.queues.running}
        held = {name: {at for at, owner in enumerate(owners) if owner == name} for name in tables}
        assert held == tables
    assert len(owners) == 12


def test_useful_tokens_are_those_of_the_report_also_where_a_full_cache_evicts():
    requests = [ask(name, 30, max_tokens=40) for name in "abc"]
    backend, _, snapshot = played(*requests, num_passes=90, num_kv_blocks=7)
    metrics = Metrics()
    metrics.feed(backend.log.since(0)[0])
    passes = metrics.report().passes
    assert passes.num_recomputed > 0
    assert snapshot.meters.useful_share == passes.useful_share


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


def test_a_refusal_is_a_notice_and_leaves_no_trace_in_the_queue():
    _, _, snapshot = played(ask("never", 5000), ask("fine"), num_passes=1)
    assert [notice.message for notice in snapshot.notices] == [
        "never refused: 5000 prompt + 4 output tokens exceed the context of 4096"
    ]
    assert [view and view.id for view in snapshot.slots[:2]] == ["fine", None]


def test_an_id_that_is_taken_is_a_notice():
    _, _, snapshot = played(ask("a"), ask("a"), num_passes=1)
    assert snapshot.num_notices == 1
    assert "already submitted" in snapshot.notices[0].message


def test_latency_percentiles_are_those_of_the_deliveries():
    _, _, snapshot = played(ask("a", 10, max_tokens=4), num_passes=4)
    first, gap = 0.0122302, 0.0120302  # the linear cost model's, for 10 prompt tokens, then one row
    assert abs(snapshot.meters.ttft.p50 - first) < 1e-6
    assert abs(snapshot.meters.itl.p50 - gap) < 1e-5
    assert (snapshot.meters.ttft.count, snapshot.meters.itl.count) == (1, 3)


def test_what_has_ended_is_forgotten_beyond_some_hundreds():
    requests = [ask(f"r{number}", max_tokens=1) for number in range(NUM_REMEMBERED + 50)]
    _, viewmodel, _ = played(*requests, num_passes=1000)
    assert viewmodel.request("r0") is None
    assert viewmodel.request(f"r{NUM_REMEMBERED + 49}").work is not Work.PREFILL


def test_a_pass_may_begin_with_who_is_forgotten_by_now():
    backend, _, frame = played(ask("gone"), enable_prefix_caching=True)
    events, end = backend.log.since(0)
    viewmodel = ViewModel(backend.log)

    viewmodel.feed((each for each in events if isinstance(each, Ready | Configured | Step)), end)

    assert viewmodel.snapshot(backend.now()).block_owners == frame.block_owners
    assert viewmodel.request_ids == ()


def test_polling_in_one_go_or_pass_by_pass_gives_the_same_frame():
    requests = [ask(f"r{number}", 20 + number * 7, max_tokens=5 + number) for number in range(14)]
    backend = StageBackend(num_kv_blocks=24)
    for request in requests:
        backend.submit(request)
    often = ViewModel(backend.log)
    for _ in range(120):
        backend.run(1)
        frame = often.poll(backend.now())
    assert ViewModel(backend.log).poll(backend.now()) == frame


def test_a_view_that_fell_behind_begins_again_at_the_oldest_keyframe():
    core = make_core(ask("gone", max_tokens=2), ask("long", max_tokens=6000), log=EventLog(CHUNK))
    viewmodel = ViewModel(core.log)
    core.step()
    assert viewmodel.poll(0.0).num_passes == 1
    while core.log.first == 0:
        plan = core.step()
    snapshot = viewmodel.poll(0.0)
    [row] = plan.rows
    assert viewmodel.request_ids == ("long",)
    assert [view and view.id for view in snapshot.slots].index("long") == row.seq.slot
    assert snapshot.block_owners.count("long") == len(row.seq.block_table)
    assert (snapshot.num_passes, snapshot.info) == (core.log.since(0)[0][-1].index + 1, core.info)


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


def test_those_who_let_others_pass_stand_behind_them():
    backend = StageBackend(
        max_num_seqs=1,
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
    assert shown == waiting == ["late", "b", "c"]
