from __future__ import annotations

from engine.clock import VirtualClock
from engine.events import Arrived, Delivered, Finished, Played, Step
from engine.request import FinishReason
from engine.run import advance, run
from engine.settings import BatcherName
from engine.workload import Feed, Listed
from tests.builders import ask, events_of, make_core, rows_of

DYNAMIC = {"batcher": BatcherName.DYNAMIC, "max_batch_size": 2}


def starts_of(core) -> list[tuple[float, list[str]]]:
    """When every pass began, and whom it computed for."""
    return [
        (step.time - step.duration, [row.request_id for row in step.rows])
        for step in events_of(core.log, Step)
        if step.rows
    ]


def test_requests_join_when_they_arrive():
    core = make_core()
    run(core, Listed([ask("a", max_tokens=3), ask("b", max_tokens=1, arrival=1.5)]))
    assert starts_of(core) == [(0.0, ["a"]), (1.0, ["a"]), (2.0, ["a", "b"])]
    assert [(e.time, e.request.id, e.request.arrival) for e in events_of(core.log, Arrived)] == [
        (0.0, "a", 0.0),
        (2.0, "b", 1.5),
    ]


def test_an_idle_engine_sleeps_until_the_next_arrival():
    core = make_core()
    run(core, Listed([ask("a", max_tokens=1, arrival=10.0), ask("b", max_tokens=1, arrival=99.5)]))
    assert starts_of(core) == [(10.0, ["a"]), (99.5, ["b"])]


def test_a_run_may_begin_at_any_moment_of_the_clock():
    clock = VirtualClock()
    clock.sleep(1000.0)
    core = make_core(clock=clock)
    run(core, Listed([ask("a", max_tokens=1, arrival=0.5)]))
    assert starts_of(core) == [(1000.5, ["a"])]


def test_the_end_of_the_input_starts_the_last_batch():
    core = make_core(batcher=BatcherName.STATIC, max_batch_size=2)
    run(core, Listed([ask(f"r{i}", max_tokens=1, arrival=float(i)) for i in range(3)]))
    assert starts_of(core) == [(1.0, ["r0", "r1"]), (2.0, ["r2"])]


def test_a_batch_starts_when_the_oldest_has_waited_long_enough():
    core = make_core(max_queue_delay_ms=250.0, **DYNAMIC)
    run(core, Listed([ask("a", max_tokens=1), ask("b", max_tokens=1, arrival=60.0)]))
    assert starts_of(core) == [(0.25, ["a"]), (60.0, ["b"])]


def test_a_wait_that_passes_while_the_engine_is_busy_is_not_begun_anew():
    core = make_core(max_queue_delay_ms=500.0, **DYNAMIC)
    arrivals = [ask("a", max_tokens=3), ask("b", max_tokens=1, arrival=1.0)]
    run(core, Listed([*arrivals, ask("late", max_tokens=1, arrival=60.0)]))
    assert starts_of(core) == [
        (0.5, ["a"]),
        (1.5, ["a"]),
        (2.5, ["a"]),
        (3.5, ["b"]),
        (60.0, ["late"]),
    ]


def test_a_wait_is_cut_short_by_company():
    core = make_core(max_queue_delay_ms=5000.0, **DYNAMIC)
    arrivals = [ask("a", max_tokens=1), ask("b", max_tokens=1, arrival=2.0)]
    run(core, Listed([*arrivals, ask("late", max_tokens=1, arrival=60.0)]))
    assert starts_of(core)[0] == (2.0, ["a", "b"])


def test_a_workload_of_nothing_ends_at_once():
    core = make_core()
    run(core, Listed([]))
    assert (starts_of(core), core.clock.now()) == ([], 0.0)


def test_a_workload_of_impossible_requests_ends_with_their_reasons():
    core = make_core(num_kv_blocks=1)
    run(core, Listed([ask("a", 99), ask("b", 0), ask("c", 4, max_tokens=1)]))
    assert {e.request_id: e.reason for e in events_of(core.log, Finished)} == {
        "a": FinishReason.REJECTED,
        "b": FinishReason.REJECTED,
        "c": FinishReason.LENGTH,
    }


def test_every_step_is_told():
    core = make_core()
    moments = []
    run(core, Listed([ask("a", max_tokens=2)]), lambda: moments.append(core.clock.now()))
    assert moments == [1.0, 2.0, 2.0]


def test_a_run_ends_with_everything_given_back():
    core = make_core(batcher=BatcherName.STATIC, max_batch_size=4)
    run(core, Listed([ask(f"r{i}", max_tokens=1 + i) for i in range(4)]))
    assert (core.queues.running, core.queues.pool.num_used) == ([], 0)
    assert len(events_of(core.log, Delivered)) == 4


class TestAdvance:
    def test_a_pass_leaves_nothing_to_wait_for(self):
        assert advance(make_core(ask("a")), None) is None

    def test_with_nothing_to_do_it_waits_for_ever(self):
        assert advance(make_core(), None) == float("inf")
        assert advance(make_core(), Feed(Listed([]))) == float("inf")

    def test_it_waits_for_the_next_arrival(self):
        assert advance(make_core(), Feed(Listed([ask("a", arrival=7.0)]))) == 7.0

    def test_it_waits_for_what_comes_first_an_arrival_or_the_end_of_a_wait(self):
        feed = Feed(Listed([ask("b", arrival=7.0)]))
        core = make_core(ask("a"), max_queue_delay_ms=9000.0, **DYNAMIC)
        assert advance(core, feed) == 7.0
        core = make_core(ask("a"), max_queue_delay_ms=5000.0, **DYNAMIC)
        assert advance(core, feed) == 5.0

    def test_what_has_arrived_joins_the_very_next_pass(self):
        core = make_core()
        advance(core, Feed(Listed([ask("a"), ask("b", arrival=0.5)])))
        feed = Feed(Listed([ask("c", arrival=0.5)]))
        advance(core, feed)
        assert rows_of(core.step()) == [("a", 1), ("c", 1)]


def test_the_log_says_once_when_a_workload_is_over():
    core = make_core()
    run(core, Listed([ask("a", max_tokens=3), ask("b", max_tokens=1, arrival=1.5)]))
    assert [event.time for event in events_of(core.log, Played)] == [3.0]


def test_a_workload_without_requests_has_no_end_to_tell_of():
    core = make_core()
    run(core, Listed([]))
    assert events_of(core.log, Played) == []


def test_a_workload_whose_requests_are_not_answered_is_not_over():
    core = make_core()
    feed = Feed(Listed([ask("a", max_tokens=3)]))
    for _ in range(2):
        advance(core, feed)
    assert feed.is_over
    assert not feed.is_done
    assert events_of(core.log, Played) == []
