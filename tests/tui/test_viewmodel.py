"""A reader of the log that may read often, seldom, or too seldom."""

from __future__ import annotations

from engine.backends.base import Backend
from engine.log import CHUNK, EventLog
from tests.builders import ask, make_core
from tests.tui.stage import StageBackend
from tuiapp.view.viewmodel import ViewModel


def test_a_stage_is_a_whole_backend():
    backend: Backend = StageBackend()
    assert backend.now() == 0.0


def test_before_the_engine_is_ready_there_is_no_info():
    viewmodel = ViewModel(StageBackend().log)
    viewmodel._position = 99  # as if nothing had been written yet
    assert viewmodel.poll(0.0).info is None


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
