from __future__ import annotations

from dataclasses import replace

import pytest

from engine import record
from engine.blocks import BlockChange
from engine.clock import VirtualClock
from engine.events import Holding, Keyframe, RowRecord, Split, Step, Work
from engine.plan import Launch, PassTiming, Plan, Skip, SkipReason
from engine.queues import Preemption
from engine.record import draft_rows
from engine.settings import BatcherName
from tests.builders import ask, events_of, make_core
from tests.checked_runner import CheckedRunner
from tests.replay import Replay


def steps_of(core) -> list[Step]:
    return events_of(core.log, Step)


def run_steps(core, count: int) -> list[Step]:
    for _ in range(count):
        core.step()
    return steps_of(core)


def test_a_pass_is_recorded_with_all_that_a_screen_needs_to_show_it():
    core = make_core(ask("a", 5, max_tokens=2), ask("b", 20), max_num_batched_tokens=8)
    [step] = run_steps(core, 1)
    assert (step.index, step.time, step.duration) == (0, 1.0, 1.0)
    assert (step.num_tokens, step.num_slots, step.is_rectangular) == (8, 8, False)
    assert (step.num_waiting, step.num_running, step.num_free_blocks) == (0, 2, 4094)
    assert step.rows == (
        RowRecord(0, "a", Work.PREFILL, 5, num_computed=0, total_tokens=5, sampled=True),
        RowRecord(1, "b", Work.PREFILL, 3, num_computed=0, total_tokens=20),
    )
    assert step.blocks == (BlockChange("a", taken=(0,)), BlockChange("b", taken=(1,)))


def test_a_pass_says_in_which_of_its_ways_the_runner_ran_it():
    class Graphs(CheckedRunner):
        def launch(self, plan: Plan) -> Launch:
            return replace(super().launch(plan), mode="graph 1")

    core = make_core(ask("a", 5), runner=Graphs(VirtualClock(), 100, 16, cost=1.0))
    assert [step.mode for step in run_steps(core, 1)] == ["graph 1"]


def test_decoding_chunking_and_finishing_can_be_told_apart():
    core = make_core(ask("a", 5, max_tokens=2), ask("b", 20), max_num_batched_tokens=8)
    step = run_steps(core, 2)[-1]
    assert step.rows == (
        RowRecord(0, "a", Work.DECODE, 1, 5, total_tokens=6, sampled=True, finished=True),
        RowRecord(1, "b", Work.PREFILL, 7, 3, total_tokens=20),
    )


def test_the_only_token_of_a_prompt_is_prefill():
    core = make_core(ask("a", 1))
    assert run_steps(core, 1)[0].rows[0].work is Work.PREFILL


def test_a_slot_that_is_held_for_its_batch_is_shown_as_held():
    core = make_core(
        ask("a", 5, max_tokens=1),
        ask("b", 3, max_tokens=3),
        batcher=BatcherName.STATIC,
        max_batch_size=2,
    )
    first, second, _ = run_steps(core, 3)
    assert (first.is_rectangular, first.num_tokens, first.num_slots) == (True, 8, 10)
    assert second.rows == (
        RowRecord(0, "a", Work.HELD, 0, num_computed=5, total_tokens=6),
        RowRecord(1, "b", Work.DECODE, 1, num_computed=3, total_tokens=4, sampled=True),
    )
    assert (second.num_tokens, second.num_slots, second.num_running) == (1, 2, 2)


def test_a_live_slot_that_a_plan_left_out_is_shown_as_stalled():
    core = make_core(ask("a", 5), max_num_batched_tokens=8)
    core.step()
    [row] = draft_rows(Plan(), core.queues.running)
    assert row == RowRecord(0, "a", Work.STALLED, 0, num_computed=5, total_tokens=6)


def test_who_made_way_is_recorded_with_what_was_lost():
    core = make_core(ask("a", 4), ask("b", 4), num_kv_blocks=2, block_size=4)
    step = run_steps(core, 2)[-1]
    assert step.preempted == (Preemption("b", slot=1, num_lost=4),)
    assert step.blocks == (BlockChange("b", released=(1,)), BlockChange("a", taken=(1,)))
    assert step.skipped == (Skip("b", SkipReason.BLOCKS, needed=2, available=0),)
    assert [row.request_id for row in step.rows] == ["a"]


def test_a_resumed_sequence_is_shown_to_prefill_its_output_again():
    core = make_core(
        ask("a", 4, max_tokens=2), ask("b", 4, max_tokens=3), num_kv_blocks=2, block_size=4
    )
    step = run_steps(core, 3)[-1]
    assert step.rows == (
        RowRecord(0, "b", Work.PREFILL, 5, num_computed=0, total_tokens=5, sampled=True),
    )


def test_blocks_given_back_in_an_idle_moment_are_recorded_without_a_pass():
    core = make_core(ask("a", 4, max_tokens=1))
    _, idle = run_steps(core, 2)
    assert (idle.rows, idle.num_tokens, idle.num_running) == ((), 0, 0)
    assert idle.blocks == (BlockChange("a", released=(0,)),)
    assert idle.index == 1, "a record without rows has the index of the pass to come"
    assert len(run_steps(core, 3)) == 2, "nothing changed, so nothing was recorded"


def test_a_reason_to_wait_is_recorded_once_and_again_when_it_changes():
    core = make_core(ask("a"), batcher=BatcherName.STATIC, max_batch_size=3)
    [waits] = run_steps(core, 3)
    assert waits.skipped == (Skip("a", SkipReason.COMPANY, needed=3, available=1),)
    core.add(ask("b"))
    assert run_steps(core, 3)[-1].skipped == (Skip("a", SkipReason.COMPANY, 3, 2),)


def test_passes_are_counted_from_zero_without_a_gap():
    core = make_core(ask("a"), ask("b"), num_kv_blocks=2, block_size=4)
    steps = [step for step in run_steps(core, 20) if step.rows]
    assert [step.index for step in steps] == list(range(len(steps)))


def test_a_simulated_device_takes_all_the_time_of_a_pass():
    [step] = run_steps(make_core(ask("a")), 1)
    assert step.split == Split(wait=1.0, device=1.0)


class Ticking:
    """A clock that goes on by a millisecond whenever it is read."""

    def __init__(self) -> None:
        self.ticks = 0

    def now(self) -> float:
        self.ticks += 1
        return self.ticks / 1000

    def sleep(self, seconds: float) -> None:
        self.ticks += round(seconds * 1000)


class Timed:
    """Says that of a launch 2 ms were for inputs and 3 for sampling, and computes for 7."""

    mode, timing = "", PassTiming(prepare=0.002, sample=0.003, device=0.007)

    def __init__(self, clock: Ticking, num_tokens: int) -> None:
        self.clock = clock
        self.num_tokens = num_tokens

    def launch(self, plan: Plan) -> Launch:
        self.clock.sleep(0.010)
        return self

    def result(self) -> list[int]:
        self.clock.sleep(0.020)
        return [7] * self.num_tokens


def test_the_split_of_a_pass_tells_the_runners_part_from_the_engines():
    clock = Ticking()
    core = make_core(ask("a"), ask("b"), clock=clock, runner=Timed(clock, 2))
    first, second = (step.split for step in run_steps(core, 2))
    assert first.schedule == pytest.approx(0.001)
    assert first.prepare == 0.002
    assert first.launch == pytest.approx(0.011 - 0.005), "what is left of a launch"
    assert first.sample == 0.003
    assert first.wait == pytest.approx(0.021)
    assert first.detokenise == pytest.approx(0.001), "a tick for the tokens of the pass"
    assert first.apply > 0
    assert first.device == 0.007
    assert first.log == 0, "nothing was written down before it"
    assert second.log > 0


@pytest.fixture
def frequent_keyframes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "KEYFRAME_STEPS", 2)


@pytest.mark.usefixtures("frequent_keyframes")
class TestKeyframe:
    def test_it_comes_before_the_first_pass_and_then_every_so_many(self):
        core = make_core(ask("a", max_tokens=5))
        run_steps(core, 9)
        assert [frame.index for frame in events_of(core.log, Keyframe)] == [0, 2, 4]

    def test_it_holds_the_whole_state(self):
        a, b, c = ask("a", 4, max_tokens=5), ask("b", 2), ask("c", 3)
        core = make_core(a, b, c, max_num_seqs=2, block_size=4)
        run_steps(core, 3)
        frame = events_of(core.log, Keyframe)[-1]
        assert (frame.time, frame.index, frame.settings) == (2.0, 2, core.settings)
        assert frame.running == (Holding(0, "a", 5, (0, 2)), Holding(1, "b", 3, (1,)))
        assert (frame.waiting, frame.requests) == (("c",), (c, a, b))
        assert dict(frame.outputs) == {
            "a": core.tokenizer.decode(core.queues.running[0].token_ids[4:6]),
            "b": core.tokenizer.decode(core.queues.running[1].token_ids[2:4]),
            "c": "",
        }

    def test_it_lies_between_two_steps_even_right_after_an_abort(self):
        core = make_core(ask("a", max_tokens=9), ask("b", max_tokens=9))
        run_steps(core, 2)
        core.abort("a")
        core.step()
        events = [e for e in core.log.since(0)[0] if isinstance(e, Step | Keyframe)]
        before, frame, after = events[-3:]
        assert before.blocks == (BlockChange("a", released=(0,)),)
        assert [holding.request_id for holding in frame.running] == ["b"]
        assert after.blocks == ()

    def test_a_reader_can_begin_at_any_of_them(self):
        core = make_core(*(ask(f"r{i}", 4 + i) for i in range(6)), num_kv_blocks=6, block_size=4)
        for index in range(30):
            core.step()
            if index % 3 == 0:
                core.abort(f"r{index // 3}")
        events, _ = core.log.since(0)
        begins = [at for at, event in enumerate(events) if isinstance(event, Keyframe)]
        assert len(begins) > 3
        for begin in begins:
            replay = Replay.begin(events[begin], core.info)
            replay.feed(events[begin + 1 :])
            assert replay.tables == {}

    def test_the_text_of_an_answer_that_waits_for_its_batch_is_whole(self):
        core = make_core(
            ask("a", max_tokens=1, stop=(" reads and more",)),
            ask("b", max_tokens=9),
            batcher=BatcherName.STATIC,
            max_batch_size=2,
        )
        run_steps(core, 3)
        frame = events_of(core.log, Keyframe)[-1]
        assert dict(frame.outputs)["a"] == " reads"
