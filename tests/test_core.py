"""One loop for every batcher: a request from end to end, and what the whole engine is told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from engine.core import EngineCore
from engine.events import Arrived, Configured, Delivered, Finished, Ready, Token
from engine.request import FinishReason
from engine.settings import BatcherName, KvPolicy, SchedulingPolicy
from engine.tokenizer import ToyTokenizer
from tests.builders import (
    ask,
    deliveries_of,
    events_of,
    make_core,
    make_info,
    outputs_of,
    reasons_of,
    rows_of,
    run_out,
    texts_of,
)
from tests.checked_runner import CheckedRunner

STATIC = {"batcher": BatcherName.STATIC, "max_batch_size": 2}


class Words(ToyTokenizer):
    """Decodes every id to a text of the test's choice, in turn."""

    def __init__(self, *words: str) -> None:
        super().__init__()
        self._texts = words

    def decode(self, token_ids: Iterable[int]) -> str:
        return "".join(self._texts[token_id] for token_id in token_ids)


class Counting(CheckedRunner):
    """Gives every request the ids 0, 1, 2, ..."""

    def _token(self, seq) -> int:
        return seq.num_output_tokens


def make_words(*words: str, **sampling) -> EngineCore:
    """A core whose request `a` outputs these words and ends with the last of them."""
    core = make_core(tokenizer=Words(*words))
    core.runner = Counting(core.clock, 99, core.settings.block_size)
    core.add(ask("a", max_tokens=len(words), ignore_eos=True, **sampling))
    return core


def test_a_log_begins_with_what_runs_and_how():
    core = make_core()
    assert core.log.since(0)[0] == [Ready(0.0, core.info), Configured(0.0, core.settings)]


class TestOneRequest:
    def test_it_is_told_from_its_arrival_to_its_end(self):
        core = make_core(ask("a", 4, max_tokens=2))
        run_out(core)
        events = [e for e in core.log.since(0)[0] if isinstance(e, Arrived | Token | Delivered)]
        assert [(type(e).__name__, e.time) for e in events] == [
            ("Arrived", 0.0),
            ("Token", 1.0),
            ("Delivered", 1.0),
            ("Token", 2.0),
            ("Delivered", 2.0),
        ]
        assert events_of(core.log, Finished) == [Finished(2.0, "a", FinishReason.LENGTH)]

    def test_it_stops_at_the_models_end_token(self):
        core = make_core(tokenizer=Words("", " b"))
        core.runner = Counting(core.clock, 99, core.settings.block_size)
        core.add(ask("a"))
        run_out(core)
        assert (outputs_of(core.log), reasons_of(core)) == ({"a": [0]}, {"a": FinishReason.STOP})

    def test_it_does_not_stop_there_if_it_ignores_the_end_token(self):
        core = make_words(" a", " b", " c")
        run_out(core)
        assert reasons_of(core) == {"a": FinishReason.LENGTH}
        assert outputs_of(core.log) == {"a": [0, 1, 2]}

    def test_it_stops_at_a_stop_token_and_keeps_it(self):
        core = make_words(" a", " b", " c", stop_token_ids=frozenset({1}))
        run_out(core)
        assert (outputs_of(core.log), reasons_of(core)) == (
            {"a": [0, 1]},
            {"a": FinishReason.STOP},
        )

    def test_it_stops_at_a_stop_string_which_is_never_shown(self):
        core = make_words("one e", "n", "d two", "three", stop=("end",))
        run_out(core)
        assert texts_of(core, "a") == ["one ", "", "", ""]
        assert reasons_of(core) == {"a": FinishReason.STOP}

    def test_it_does_not_stop_before_its_least_number_of_tokens(self):
        core = make_words(" x", " x", " x", stop=("x",), min_tokens=2)
        run_out(core)
        assert texts_of(core, "a") == [" x", " ", ""]
        assert reasons_of(core) == {"a": FinishReason.STOP}

    def test_what_was_held_back_is_shown_at_its_end(self):
        core = make_words("the ", "en", stop=("end",))
        run_out(core)
        assert texts_of(core, "a") == ["the ", "", "en"]

    def test_the_settings_can_make_every_request_ignore_the_end_token(self):
        core = make_core(ask("a"), ignore_eos=True)
        [arrived] = events_of(core.log, Arrived)
        assert arrived.request.sampling.ignore_eos
        core = make_core(ask("a", ignore_eos=True), ignore_eos=False)
        [arrived] = events_of(core.log, Arrived)
        assert not arrived.request.sampling.ignore_eos


class TestPriorities:
    def test_a_live_change_of_policy_orders_those_who_wait(self):
        requests = [replace(ask(f"r{i}", max_tokens=1), priority=9 - i) for i in range(3)]
        core = make_core(*requests, max_num_seqs=1)
        core.configure(replace(core.settings, scheduling_policy=SchedulingPolicy.PRIORITY))
        run_out(core)
        assert list(outputs_of(core.log)) == ["r2", "r1", "r0"]


class TestFlush:
    def test_it_starts_a_batch_that_is_not_full(self):
        core = make_core(ask("a"), **STATIC)
        assert rows_of(core.step()) == []
        core.flush()
        assert rows_of(core.step()) == [("a", 4)]

    def test_it_means_nothing_to_an_empty_queue(self):
        core = make_core(**STATIC)
        core.flush()
        core.add(ask("a"))
        assert rows_of(core.step()) == []

    def test_it_does_not_outlive_those_it_was_meant_for(self):
        core = make_core(ask("a"), ask("b"), ask("c"), **STATIC)
        core.step()
        core.flush()
        core.abort("c")
        run_batch = [core.step() for _ in range(5)]
        assert [len(plan.rows) for plan in run_batch] == [2, 2, 2, 0, 0]
        core.add(ask("d"))
        assert rows_of(core.step()) == []


class TestReserve:
    def test_a_sequence_takes_the_longest_context_at_once(self):
        core = make_core(ask("a"), info=make_info(64), kv_policy=KvPolicy.RESERVE, block_size=16)
        core.step()
        assert core.queues.pool.num_used == 4

    def test_fewer_sequences_run_than_with_paging(self):
        knobs = {"num_kv_blocks": 8, "block_size": 4}
        requests = [ask(f"r{i}") for i in range(6)]
        paged = make_core(*requests, **knobs)
        reserved = make_core(*requests, kv_policy=KvPolicy.RESERVE, reserve_tokens=16, **knobs)
        assert (len(paged.step().rows), len(reserved.step().rows)) == (6, 2)

    def test_the_longest_context_is_never_more_than_the_model_has(self):
        core = make_core(
            ask("a"),
            info=make_info(max_model_len=64),
            kv_policy=KvPolicy.RESERVE,
            max_model_len=1000,
        )
        core.step()
        assert core.queues.pool.num_used == 4


class TestPreemption:
    def test_a_preempted_output_is_made_and_delivered_exactly_once(self):
        core = make_core(ask("a"), ask("b"), num_kv_blocks=2, block_size=4)
        alone = make_core(ask("a"), ask("b"))
        run_out(core)
        run_out(alone)
        assert outputs_of(core.log) == outputs_of(alone.log)
        assert [num for _, _, num in deliveries_of(core)] == [1] * 8
        assert texts_of(core, "b") == texts_of(alone, "b")
