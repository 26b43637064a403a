from __future__ import annotations

import math

import pytest

from engine.request import Answer, Sequence, Status
from engine.workload import Feed, Listed
from tests.builders import ask, make_queues


def make_listed(*arrivals: float) -> Listed:
    return Listed(ask(f"r{index}", arrival=arrival) for index, arrival in enumerate(arrivals))


def arrivals(requests) -> list[tuple[str, float]]:
    return [(request.id, request.arrival) for request in requests]


def test_a_list_is_sorted_by_arrival_and_ties_keep_their_order():
    listed = make_listed(2.0, 1.0, 2.0, 0.0)
    assert arrivals(listed.take(9.0)) == [("r3", 0.0), ("r1", 1.0), ("r0", 2.0), ("r2", 2.0)]


def test_a_list_gives_what_is_due_and_knows_what_comes_next():
    listed = make_listed(1.0, 2.0)
    assert (listed.take(0.5), listed.next_time()) == ([], 1.0)
    assert arrivals(listed.take(1.0)) == [("r0", 1.0)]
    assert arrivals(listed.take(5.0)) == [("r1", 2.0)]
    assert (listed.take(9.0), listed.next_time()) == ([], None)


def test_a_feed_begins_when_it_is_told_to():
    feed = Feed(make_listed(0.0, 1.0), began=100.0)
    assert feed.next_time() == 100.0
    assert arrivals(feed.take(100.5)) == [("r0", 100.0)]
    assert feed.next_time() == 101.0


def test_a_feed_at_double_speed_halves_the_gaps():
    feed = Feed(make_listed(0.0, 1.0, 2.0), began=100.0, speed=2.0)
    assert arrivals(feed.take(101.0)) == [("r0", 100.0), ("r1", 100.5), ("r2", 101.0)]


def test_a_change_of_speed_moves_only_what_is_still_to_come():
    feed = Feed(make_listed(0.0, 1.0, 3.0), began=100.0)
    assert arrivals(feed.take(102.0)) == [("r0", 100.0), ("r1", 101.0)]
    feed.set_speed(0.5, now=102.0)
    assert feed.next_time() == 104.0
    feed.set_speed(4.0, now=103.0)
    assert feed.next_time() == 103.125
    assert arrivals(feed.take(104.0)) == [("r2", 103.125)]


def test_no_request_arrives_later_than_it_is_taken():
    feed = Feed(make_listed(8.4), began=2.1, speed=0.3)
    now = math.nextafter(2.1 + 8.4 / 0.3, 0)  # where rounding finds it due an instant early
    [request] = feed.take(now)
    assert request.arrival == now


@pytest.mark.parametrize("speed", [0.1, 0.3, 1.0, 7.0, 1000.0])
@pytest.mark.parametrize("began", [0.0, 0.1, 12345.678, 1e6])
def test_a_request_is_there_at_the_very_moment_it_was_promised_for(speed: float, began: float):
    """Or an engine that slept until then would go on sleeping for nothing, for ever."""
    moments = [0.1 * index for index in range(200)]
    feed = Feed(make_listed(*moments), began, speed)
    for index in range(200):
        now = feed.next_time()
        if now is None:
            break
        assert feed.take(now), f"request {index} did not come when it was promised"
    assert feed.next_time() is None


@pytest.mark.parametrize("speed", [0.0, -1.0, float("nan"), float("inf")])
def test_a_speed_that_is_none_is_refused(speed: float):
    with pytest.raises(ValueError, match=f"speed must be above 0 and finite, got {speed}"):
        Feed(make_listed(1.0), speed=speed)
    feed = Feed(make_listed(1.0))
    with pytest.raises(ValueError, match=f"speed must be above 0 and finite, got {speed}"):
        feed.set_speed(speed, now=0.0)
    assert feed.next_time() == 1.0


def test_a_pace_stretches_a_workload_and_a_speed_shortens_it():
    feed = Feed(make_listed(0.0, 1.0, 2.0), began=100.0, pace=3.0)
    assert arrivals(feed.take(103.0)) == [("r0", 100.0), ("r1", 103.0)]
    feed.set_speed(2.0, now=103.0)
    assert feed.next_time() == 104.5


class TestLastCall:
    def test_is_when_no_arrival_is_known_and_nothing_runs(self):
        feed, queues = Feed(make_listed(0.0, 1.0)), make_queues(4, 4)
        assert not feed.is_last_call(queues)
        feed.take(1.0)
        assert feed.is_last_call(queues)

    def test_is_not_while_something_runs_that_could_bring_more(self):
        feed, queues = Feed(make_listed(0.0, 0.0)), make_queues(4, 4)
        feed.take(0.0)
        running = queues.admit()
        assert not feed.is_last_call(queues)
        running.move_to(Status.FINISHED)
        assert feed.is_last_call(queues)

    def test_is_not_for_requests_of_others(self):
        feed, queues = Feed(make_listed(0.0)), make_queues()
        feed.take(0.0)
        queues.enqueue(Sequence(ask("mine")))
        assert not feed.is_last_call(queues)

    def test_is_not_for_what_was_answered_before(self):
        feed, queues = Feed(make_listed(0.0)), make_queues(4)
        feed.take(0.0)
        feed.tell([Answer("r0")], 1.0)
        assert not feed.is_last_call(queues)
