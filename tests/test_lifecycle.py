"""Who is taken on, when each is answered, and the ways in which a request can end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine import record
from engine.core import EngineCore
from engine.events import Arrived, Delivered, Finished, Keyframe, Refused, Step
from engine.request import FinishReason, Status
from engine.settings import BatcherName, Delivery, EngineSettings, TimeoutAction
from tests.builders import (
    ask,
    deliveries_of,
    events_of,
    make_core,
    make_info,
    messages_of,
    outputs_of,
    reasons_of,
    rows_of,
    run_out,
)

STATIC = {"batcher": BatcherName.STATIC, "max_batch_size": 2}


def answered(core: EngineCore) -> list[str]:
    return [answer.request_id for answer in core.take_answered()]


class TestTheDoor:
    def test_what_can_never_fit_is_refused_and_the_queue_moves_on(self):
        core = make_core(
            ask("a", 4), ask("never", 90, 9), ask("b", 4), num_kv_blocks=24, block_size=4
        )
        run_out(core)
        assert reasons_of(core) == {
            "a": FinishReason.LENGTH,
            "never": FinishReason.REJECTED,
            "b": FinishReason.LENGTH,
        }
        assert messages_of(core)["never"] == (
            "90 prompt + 9 output tokens need 25 KV blocks; the cache has 24"
        )

    def test_a_prompt_one_short_of_the_context_gives_exactly_one_token(self):
        core = make_core(ask("a", 31, max_tokens=1), info=make_info(max_model_len=32))
        run_out(core)
        assert {key: len(ids) for key, ids in outputs_of(core.log).items()} == {"a": 1}
        assert reasons_of(core) == {"a": FinishReason.LENGTH}
        rows = [row for step in events_of(core.log, Step) for row in step.rows]
        assert [(row.num_computed, row.num_tokens, row.total_tokens) for row in rows] == [
            (0, 31, 31)
        ]

    def test_a_context_the_model_does_not_have_cannot_be_set(self):
        core = make_core(ask("a", 32, 1), info=make_info(max_model_len=32), max_model_len=64)
        assert messages_of(core) == {"a": "32 prompt + 1 output tokens exceed the context of 32"}

    def test_a_shorter_context_can_be_set(self):
        core = make_core(ask("a", 8, 1), ask("b", 7, 1), max_model_len=8)
        assert messages_of(core) == {"a": "8 prompt + 1 output tokens exceed the context of 8"}

    def test_the_only_sequence_that_outgrows_the_cache_is_refused_before_it_runs(self):
        core = make_core(ask("a", 4, max_tokens=5), num_kv_blocks=2, block_size=4)
        assert reasons_of(core) == {"a": FinishReason.REJECTED}
        core.add(ask("b", 4, max_tokens=4))
        run_out(core)
        assert len(outputs_of(core.log)["b"]) == 4

    def test_one_bad_request_does_not_harm_its_batch(self):
        core = make_core(ask("a"), ask("bad", temperature=-1.0), ask("b"), **STATIC)
        run_out(core)
        assert reasons_of(core)["bad"] is FinishReason.REJECTED
        assert {key: len(ids) for key, ids in outputs_of(core.log).items()} == {"a": 4, "b": 4}

    def test_a_second_request_of_the_same_name_is_turned_away_and_harms_nothing(self):
        core = make_core(ask("a", max_tokens=2))
        core.step()
        core.add(ask("a", max_tokens=9))
        run_out(core)
        core.add(ask("a"))
        assert [e.message for e in events_of(core.log, Refused)] == [
            "a request named 'a' was already submitted"
        ] * 2
        assert (len(events_of(core.log, Arrived)), len(events_of(core.log, Finished))) == (1, 1)
        assert len(outputs_of(core.log)["a"]) == 2


class TestDelivery:
    def test_a_batch_is_answered_when_its_last_member_is_done(self):
        core = make_core(ask("short", max_tokens=1), ask("long", max_tokens=3), **STATIC)
        run_out(core)
        assert deliveries_of(core) == [(3.0, "short", 1), (3.0, "long", 3)]
        assert [(e.request_id, e.time) for e in events_of(core.log, Finished)] == [
            ("short", 1.0),
            ("long", 3.0),
        ]

    def test_a_batch_can_stream(self):
        core = make_core(
            ask("a", max_tokens=1), ask("b", max_tokens=2), deliver=Delivery.STREAM, **STATIC
        )
        run_out(core)
        assert deliveries_of(core) == [(1.0, "a", 1), (1.0, "b", 1), (2.0, "b", 1)]

    def test_without_a_batch_to_wait_for_each_is_answered_when_it_is_done(self):
        core = make_core(ask("a", max_tokens=1), ask("b", max_tokens=2), deliver=Delivery.BATCH)
        run_out(core)
        assert deliveries_of(core) == [(1.0, "a", 1), (2.0, "b", 2)]

    def test_the_last_one_that_a_batch_waits_for_may_be_aborted(self):
        core = make_core(ask("a", max_tokens=1), ask("b", max_tokens=9), **STATIC)
        core.step()
        core.abort("b")
        assert deliveries_of(core) == [(1.0, "a", 1)]

    def test_a_batch_goes_on_if_another_than_its_last_is_aborted(self):
        core = make_core(ask("a", max_tokens=9), ask("b", max_tokens=2), **STATIC)
        core.step()
        core.abort("a")
        assert deliveries_of(core) == []
        run_out(core)
        assert deliveries_of(core) == [(2.0, "b", 2)]

    def test_a_change_of_delivery_in_mid_run_delivers_everything_once(self):
        core = make_core(ask("a", max_tokens=4), deliver=Delivery.BATCH)
        core.step()
        core.configure(EngineSettings(deliver=Delivery.STREAM))
        run_out(core)
        assert [num for _, _, num in deliveries_of(core)] == [2, 1, 1]

    def test_a_batch_that_is_broken_up_answers_those_that_are_done(self):
        core = make_core(ask("a", max_tokens=1), ask("b", max_tokens=3), **STATIC)
        core.step()
        core.configure(EngineSettings())
        assert deliveries_of(core) == [(1.0, "a", 1)]
        run_out(core)
        assert [(key, num) for _, key, num in deliveries_of(core)] == [
            ("a", 1),
            ("b", 2),
            ("b", 1),
        ]


class TestFinishedRows:
    def test_they_emit_nothing_while_they_wait_for_their_batch(self):
        core = make_core(ask("short", max_tokens=1), ask("long", max_tokens=5), **STATIC)
        run_out(core)
        assert {key: len(ids) for key, ids in outputs_of(core.log).items()} == {
            "short": 1,
            "long": 5,
        }
        dead = [step.num_slots - step.num_tokens for step in events_of(core.log, Step)]
        assert dead == [0, 1, 1, 1, 1, 0]


class TestAbort:
    def test_a_waiting_request_leaves_and_the_running_ones_stay(self):
        core = make_core(ask("a"), ask("b"), ask("c"), max_num_seqs=1)
        core.step()
        core.abort("b")
        run_out(core)
        assert reasons_of(core) == {
            "a": FinishReason.LENGTH,
            "b": FinishReason.ABORT,
            "c": FinishReason.LENGTH,
        }

    def test_a_running_request_gives_back_slot_and_blocks_at_once(self):
        core = make_core(ask("a"), ask("b"), num_kv_blocks=8, block_size=4)
        core.step()
        core.abort("a")
        assert [(seq.id, seq.slot) for seq in core.queues.running] == [("b", 1)]
        assert core.queues.pool.num_used == 1

    def test_a_preempted_request_leaves_the_queue(self):
        core = make_core(ask("a"), ask("b"), num_kv_blocks=2, block_size=4)
        core.step()
        core.step()
        assert core.queues.waiting[0].status is Status.PREEMPTED
        core.abort("b")
        assert not core.queues.waiting
        run_out(core)
        assert len(outputs_of(core.log)["a"]) == 4

    def test_a_half_computed_prompt_leaves_nothing_behind(self):
        core = make_core(ask("a", 100), max_num_batched_tokens=32)
        core.step()
        core.abort("a")
        assert (core.queues.pool.num_used, core.queues.running) == (0, [])

    def test_what_was_generated_but_not_delivered_is_dropped(self):
        core = make_core(ask("a"), ask("b"), **STATIC)
        core.step()
        core.abort("a")
        assert answered(core) == ["a"]
        run_out(core)
        assert [key for _, key, _ in deliveries_of(core)] == ["b"]

    def test_twice_or_after_the_end_or_of_nobody_it_is_harmless(self):
        core = make_core(ask("a", max_tokens=1), ask("b"), max_num_seqs=2)
        core.step()
        for request_id in ("b", "b", "a", "nobody"):
            core.abort(request_id)
        run_out(core)
        assert reasons_of(core) == {"a": FinishReason.LENGTH, "b": FinishReason.ABORT}

    def test_a_finished_answer_that_waits_for_its_batch_is_still_delivered(self):
        core = make_core(ask("a", max_tokens=1), ask("b", max_tokens=2), **STATIC)
        core.step()
        core.abort("a")
        run_out(core)
        assert reasons_of(core)["a"] is FinishReason.LENGTH
        assert deliveries_of(core) == [(2.0, "a", 1), (2.0, "b", 2)]

    def test_all_at_once_leaves_an_empty_engine(self):
        core = make_core(*(ask(f"r{i}") for i in range(5)), max_num_seqs=2)
        core.step()
        core.abort_all()
        assert (core.has_work, core.queues.pool.num_used) == (False, 0)
        assert set(reasons_of(core).values()) == {FinishReason.ABORT}

    def test_the_next_owner_of_its_slot_and_blocks_starts_afresh(self):
        core = make_core(ask("a", 30), num_kv_blocks=12, block_size=4)
        core.step()
        core.abort("a")
        core.add(ask("b", 3))
        assert rows_of(core.step()) == [("b", 3)]
        assert (core.queues.running[0].slot, core.queues.running[0].block_table) == (0, [0])


class TestQueueSize:
    def test_who_comes_to_a_full_queue_is_refused_and_the_others_are_served(self):
        core = make_core(*(ask(f"r{i}") for i in range(4)), max_queue_size=2)
        assert messages_of(core) == dict.fromkeys(("r2", "r3"), "queue is full (2 waiting)")
        run_out(core)
        assert set(outputs_of(core.log)) == {"r0", "r1"}

    @pytest.mark.parametrize("batcher", BatcherName)
    def test_whoever_runs_is_not_counted(self, batcher):
        core = make_core(ask("a"), max_queue_size=1, batcher=batcher, max_batch_size=1)
        core.step()
        core.add(ask("b"))
        core.add(ask("c"))
        assert messages_of(core) == {"c": "queue is full (1 waiting)"}


class TestTimeouts:
    KNOBS = {"max_num_seqs": 1, "default_queue_timeout_ms": 2500.0}  # noqa: RUF012 -- read only

    def test_who_waited_too_long_is_refused(self):
        core = make_core(ask("a", max_tokens=9), ask("b"), **self.KNOBS)
        run_out(core)
        assert messages_of(core)["b"] == (
            "it waited 3000 ms in the queue, longer than default_queue_timeout_ms allows"
        )
        assert reasons_of(core) == {"a": FinishReason.LENGTH, "b": FinishReason.REJECTED}

    def test_who_waited_too_long_lets_the_others_pass(self):
        core = make_core(
            ask("a", max_tokens=3), ask("b"), timeout_action=TimeoutAction.DELAY, **self.KNOBS
        )
        for _ in range(3):
            core.step()
        core.add(ask("c", arrival=3.0, max_tokens=2))
        run_out(core)
        assert list(outputs_of(core.log)) == ["a", "c", "b"]

    def test_an_engine_that_waits_for_company_wakes_up_to_refuse(self):
        core = make_core(ask("a"), batcher=BatcherName.STATIC, default_queue_timeout_ms=2500.0)
        plan = core.step()
        assert (rows_of(plan), plan.wake_at) == ([], 2.5)
        core.clock.sleep(2.5)
        core.step()
        assert reasons_of(core) == {"a": FinishReason.REJECTED}

    def test_who_was_preempted_is_not_refused_for_waiting_again(self):
        requests = [ask("a", 4, max_tokens=9), ask("b", 4, max_tokens=9)]
        core = make_core(*requests, num_kv_blocks=4, block_size=4, default_queue_timeout_ms=2500.0)
        run_out(core)
        assert any(step.preempted for step in events_of(core.log, Step))
        assert set(reasons_of(core).values()) == {FinishReason.LENGTH}


def test_an_engine_forgets_what_it_delivered(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(record, "KEYFRAME_STEPS", 1)
    core = make_core(ask("a"), ask("b"), ask("c"), **STATIC)
    run_out(core)
    core.step()
    assert events_of(core.log, Keyframe)[-1].outputs == ()


class TestAnswered:
    """Who asked may ask again only once it has everything that it will get."""

    def test_is_who_got_its_last_token(self):
        core = make_core(ask("a", max_tokens=2), ask("b", max_tokens=3))
        core.step()
        assert answered(core) == []
        core.step()
        assert answered(core) == ["a"]
        assert answered(core) == []

    def test_is_nobody_before_its_batch_ends_where_answers_come_by_batch(self):
        core = make_core(ask("a", max_tokens=1), ask("b", max_tokens=2), **STATIC)
        core.step()
        assert answered(core) == []
        core.step()
        assert answered(core) == ["a", "b"]

    def test_is_who_was_refused_rejected_or_went_away_each_once(self):
        core = make_core(ask("a"), ask("a"), ask("never", 9000))
        core.step()
        core.abort("a")
        core.step()
        assert answered(core) == ["a", "never", "a"]

    def test_is_told_once_though_settings_change_after_it(self):
        core = make_core(ask("a", max_tokens=1))
        core.step()
        core.configure(EngineSettings(max_num_seqs=3))
        core.step()
        assert answered(core) == ["a"]


class TestClientsThatGoAway:
    def test_go_once_so_many_tokens_have_reached_them(self):
        core = make_core(replace(ask("a", max_tokens=9), cancel_after_tokens=3))
        run_out(core)
        assert [e.reason for e in events_of(core.log, Finished)] == [FinishReason.ABORT]
        assert len(events_of(core.log, Delivered)) == 3
        assert (core.queues.running, core.queues.pool.num_used) == ([], 0)

    def test_stay_for_an_answer_that_comes_as_a_whole(self):
        impatient = replace(ask("a", max_tokens=2), cancel_after_tokens=1)
        core = make_core(impatient, ask("b", max_tokens=2), **STATIC)
        run_out(core)
        assert {e.reason for e in events_of(core.log, Finished)} == {FinishReason.LENGTH}
