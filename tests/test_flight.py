"""Passes that are planned and launched while the one before runs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from engine import record
from engine.clock import VirtualClock
from engine.events import Delivered, Failed, Keyframe, RowRecord, Step, Token, Work
from engine.plan import Launch, Plan, RunnerError
from engine.request import PENDING, FinishReason
from engine.settings import BatcherName, EngineSettings
from tests.builders import ask, events_of, make_core, outputs_of, reasons_of, rows_of, run_out
from tests.checked_runner import CheckedRunner


@dataclass
class Watched:
    """A launch that tells of its result, or fails with it."""

    launch: Launch
    name: str
    diary: list[str]
    fails: bool

    @property
    def mode(self):
        return self.launch.mode

    @property
    def timing(self):
        return self.launch.timing

    def result(self) -> list[int]:
        self.diary.append(f"result {self.name}")
        if self.fails:
            raise RunnerError("the device is gone")
        return self.launch.result()


class Diary(CheckedRunner):
    """A runner that writes down what is asked of it.

    Attributes:
        fails_late: passes, counted from 0, whose result is an error.
    """

    def __init__(self, *fails_late: int) -> None:
        super().__init__(VirtualClock(), 67, 16)
        self.fails_late = fails_late
        self.diary: list[str] = []
        self.num_launched = 0

    def launch(self, plan: Plan) -> Launch:
        name, self.num_launched = self.num_launched, self.num_launched + 1
        self.diary.append(f"launch {name}")
        launch = super().launch(plan)
        return Watched(launch, str(name), self.diary, name in self.fails_late)


def make_ahead(*requests, runner=None, **knobs):
    runner = runner or Diary()
    knobs = {"async_scheduling": True} | knobs
    return make_core(*requests, runner=runner, clock=runner._timeline._clock, **knobs)


def steps_of(core) -> list[Step]:
    return [step for step in events_of(core.log, Step) if step.rows]


def test_a_pass_is_launched_before_the_result_of_the_one_before_is_taken():
    core = make_ahead(ask("a", max_tokens=3))
    run_out(core)
    assert core.runner.diary == [
        "launch 0",
        "launch 1",
        "result 0",
        "launch 2",
        "result 1",
        "result 2",
    ]


def test_without_it_every_result_is_taken_at_once():
    core = make_ahead(ask("a", max_tokens=2), async_scheduling=False)
    run_out(core)
    assert core.runner.diary == ["launch 0", "result 0", "launch 1", "result 1"]


def test_a_token_under_way_is_pending_and_its_sequence_decodes_it():
    core = make_ahead(ask("a", 4, max_tokens=3))
    core.step()
    [seq] = core.queues.running
    assert (seq.token_ids[4:], seq.num_computed) == ([PENDING], 4)
    assert rows_of(core.step()) == [("a", 1)]
    assert seq.token_ids[5:] == [PENDING]
    assert [token.token_id for token in events_of(core.log, Token)] == [seq.token_ids[4]]


def test_no_row_follows_the_token_that_completes_a_sequence():
    core = make_ahead(ask("a", max_tokens=2))
    plans = [core.step() for _ in range(3)]
    assert [len(plan.rows) for plan in plans] == [1, 1, 0]
    assert plans[-1].wake_at == 1.0, "what came in may be what the next plan waits for"
    assert not core.has_work


def test_time_passes_as_if_the_device_had_never_waited():
    core = make_ahead(ask("a", max_tokens=3))
    run_out(core)
    assert [token.time for token in events_of(core.log, Token)] == [1.0, 2.0, 3.0]
    assert [(step.time, step.duration) for step in steps_of(core)] == [
        (1.0, 1.0),
        (2.0, 1.0),
        (3.0, 1.0),
    ]


def test_the_row_of_a_sequence_that_had_stopped_is_recorded_as_held():
    stop = make_core(ask("a", max_tokens=5))
    stop.step()
    core = make_ahead(
        ask("a", 4, max_tokens=5, stop_token_ids=frozenset(outputs_of(stop.log)["a"]))
    )
    run_out(core)
    first, wasted = steps_of(core)
    assert first.rows[0].finished
    assert wasted.rows == (RowRecord(0, "a", Work.HELD, 0, 4, total_tokens=5),)
    assert (wasted.num_tokens, wasted.num_slots) == (0, 1)
    assert len(outputs_of(core.log)["a"]) == 1
    assert reasons_of(core) == {"a": FinishReason.STOP}


def test_a_token_of_an_aborted_request_is_thrown_away():
    core = make_ahead(ask("a", max_tokens=9), ask("b", max_tokens=3))
    core.step()
    core.step()
    core.abort("a")
    run_out(core)
    assert {key: len(ids) for key, ids in outputs_of(core.log).items()} == {"a": 1, "b": 3}
    assert [row.work for row in steps_of(core)[1].rows] == [Work.HELD, Work.DECODE]
    assert core.queues.pool.num_used == 0


def test_a_client_that_leaves_gets_no_token_more_than_it_waited_for():
    core = make_ahead(replace(ask("a", max_tokens=9), cancel_after_tokens=2))
    run_out(core)
    assert len(events_of(core.log, Delivered)) == 2
    assert reasons_of(core) == {"a": FinishReason.ABORT}


def test_who_makes_way_keeps_the_token_that_was_under_way():
    core = make_ahead(ask("a", 4), ask("b", 4), num_kv_blocks=2, block_size=4)
    core.step()
    core.step()
    [b] = core.queues.waiting
    assert (b.id, b.num_computed, b.num_output_tokens) == ("b", 0, 1)
    assert PENDING not in b.token_ids
    run_out(core)
    undisturbed = make_core(ask("a", 4), ask("b", 4))
    run_out(undisturbed)
    assert outputs_of(core.log) == outputs_of(undisturbed.log)


def test_who_makes_way_with_its_last_token_under_way_ends_without_coming_back():
    core = make_ahead(
        ask("a", 4, max_tokens=4), ask("b", 4, max_tokens=1), num_kv_blocks=2, block_size=4
    )
    core.step()
    core.step()
    assert not core.queues.waiting
    assert reasons_of(core) == {"b": FinishReason.LENGTH}
    run_out(core)
    assert reasons_of(core)["a"] is FinishReason.LENGTH


def test_a_batch_ends_with_the_tokens_under_way():
    core = make_ahead(
        ask("a", max_tokens=2),
        ask("b", max_tokens=3),
        batcher=BatcherName.STATIC,
        max_batch_size=2,
    )
    run_out(core)
    assert [[row.work for row in step.rows] for step in steps_of(core)] == [
        [Work.PREFILL, Work.PREFILL],
        [Work.DECODE, Work.DECODE],
        [Work.HELD, Work.DECODE],
    ]
    assert [(event.time, event.num_tokens) for event in events_of(core.log, Delivered)] == [
        (3.0, 2),
        (3.0, 3),
    ]


def test_a_launch_that_fails_takes_in_what_was_under_way_first():
    core = make_ahead(ask("a", max_tokens=4))
    core.step()
    core.runner.fails_next = True
    core.step()
    assert len(outputs_of(core.log)["a"]) == 1
    assert reasons_of(core) == {"a": FinishReason.ERROR}
    assert core.executor.flight is None
    core.add(ask("b", max_tokens=2))
    run_out(core)
    assert reasons_of(core)["b"] is FinishReason.LENGTH


def test_a_result_that_fails_ends_its_sequences_and_wastes_their_next_rows():
    core = make_ahead(ask("a", max_tokens=4), runner=Diary(1))
    core.step()
    core.step()
    core.add(ask("b", max_tokens=2))
    run_out(core)
    assert len(outputs_of(core.log)["a"]) == 1
    assert reasons_of(core) == {"a": FinishReason.ERROR, "b": FinishReason.LENGTH}
    assert [failed.message for failed in events_of(core.log, Failed)] == ["the device is gone"]
    assert [row.work for row in steps_of(core)[1].rows] == [Work.HELD, Work.PREFILL]
    assert core.queues.pool.num_used == 0


def test_settings_change_once_what_was_under_way_has_come_in():
    core = make_ahead(ask("a", max_tokens=4))
    core.step()
    core.configure(EngineSettings(BatcherName.STATIC, max_batch_size=1))
    assert len(outputs_of(core.log)["a"]) == 1
    assert core.executor.flight is None


def test_a_keyframe_is_written_with_nothing_under_way(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(record, "KEYFRAME_STEPS", 2)
    core = make_ahead(ask("a", max_tokens=5))
    run_out(core)
    frame = events_of(core.log, Keyframe)[1]
    assert (frame.index, frame.time, frame.running[0].num_computed) == (3, 3.0, 6)
    assert len(dict(frame.outputs)["a"].split()) == 3


def test_it_is_on_where_the_device_works_on_its_own_unless_settings_say_otherwise():
    core = make_core()
    assert not core.info.is_async(EngineSettings())
    on_cuda = replace(core.info, device_uuid="GPU-1")
    assert on_cuda.is_async(EngineSettings())
    assert not on_cuda.is_async(EngineSettings(async_scheduling=False))
    assert core.info.is_async(EngineSettings(async_scheduling=True))
