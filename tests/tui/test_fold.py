"""From the events of a run to the frame that shows it."""

from __future__ import annotations

from engine.events import Configured, Ready, Step
from engine.metrics import Metrics
from engine.request import FinishReason
from engine.settings import BatcherName
from tests.builders import ask
from tests.tui.stage import played
from tuiapp.view.phases import Phase
from tuiapp.view.viewmodel import ViewModel


def phases(snapshot, slot):
    return [cell.phase if (cell := column.cell(slot)) else None for column in snapshot.columns]


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


def test_a_pass_may_begin_with_who_is_forgotten_by_now():
    backend, _, frame = played(ask("gone"), enable_prefix_caching=True)
    events, end = backend.log.since(0)
    viewmodel = ViewModel(backend.log)

    viewmodel.feed((each for each in events if isinstance(each, Ready | Configured | Step)), end)

    assert viewmodel.snapshot(backend.now()).block_owners == frame.block_owners
    assert viewmodel.request_ids == ()
