"""What being watched adds to an engine: workloads, a clock that can be held, gauges."""

from __future__ import annotations

import pytest

from engine.events import Arrived, Finished, Gauges, Noted
from engine.request import FinishReason
from engine.settings import BatcherName
from engine.workload import Listed
from tests.builders import ask, events_of
from tests.on_a_thread import (
    engine_threads,
    num_passes,
    serving,
    simulated,
    wait_for,
    wait_for_reasons,
    wait_until,
)

STATIC = {"batcher": BatcherName.STATIC, "max_batch_size": 2}


class Dead:
    """A gauge that cannot be read."""

    def read(self, now: float) -> Gauges:
        raise OSError("the bus is gone")

    def close(self) -> None:
        pass


def test_it_reads_the_gauges_of_its_device():
    with serving(simulated()) as backend:
        [gauges, *_] = wait_for(backend, Gauges)
        assert gauges.name == "CPU"
        assert 0 < gauges.memory_used <= gauges.memory_total


def test_gauges_that_cannot_be_read_are_told_of_once_and_requests_are_served():
    with serving(simulated(), make_gauge=lambda info: Dead()) as backend:
        [noted, *_] = wait_for(backend, Noted)
        backend.submit(ask("r0"))
        assert wait_for_reasons(backend, 1) == {"r0": FinishReason.LENGTH}
    assert noted.text == (
        "the device's gauges could not be read (OSError: the bus is gone); tried again"
    )
    assert len(events_of(backend.log, Noted)) == 1


class Counting:
    """A gauge whose every reading says how many there were."""

    def __init__(self) -> None:
        self.num_read = 0

    def read(self, now: float) -> Gauges:
        self.num_read += 1
        return Gauges(now, "GPU", 0.5, self.num_read, 0)

    def close(self) -> None:
        pass


def test_while_the_clock_is_held_no_reading_is_logged_but_the_last_as_it_goes_on():
    gauge = Counting()
    with serving(simulated(), make_gauge=lambda info: gauge) as backend:
        wait_for(backend, Gauges)
        backend.pause()
        before = gauge.num_read
        wait_until(lambda: gauge.num_read >= before + 3, backend.log)
        held_at = backend.now()
        held = [each for each in events_of(backend.log, Gauges) if each.time == held_at]
        assert len(held) <= 1
        backend.resume()
        num_logged = len(events_of(backend.log, Gauges))
        later = wait_for(backend, Gauges, num_logged + 1)
        assert later[num_logged].time >= held_at


class TestPause:
    def test_exactly_the_passes_asked_for_run(self):
        with serving(simulated()) as backend:
            backend.pause()
            backend.submit(ask("a", max_tokens=50))
            backend.step(2)
            backend.step()
            wait_until(lambda: num_passes(backend) >= 3, backend.log)
            backend.abort("a")
            wait_for(backend, Finished)
            assert num_passes(backend) == 3

    def test_no_time_passes(self):
        with serving(simulated()) as backend:
            backend.pause()
            backend.submit(ask("a"))
            [arrived] = wait_for(backend, Arrived)
            backend.submit(ask("b"))
            assert wait_for(backend, Arrived, 2)[1].time == arrived.time == backend.now()
            backend.resume()
            wait_for(backend, Finished, 2)
            assert backend.now() > arrived.time

    def test_a_resumed_engine_forgets_the_steps_it_was_still_to_make(self):
        with serving(simulated(**STATIC)) as backend:
            backend.pause()
            backend.submit(ask("a"))
            backend.submit(ask("b"))
            backend.step(1)
            backend.resume()
            assert len(wait_for_reasons(backend, 2)) == 2

    def test_a_second_pause_ends_the_steps_of_the_first(self):
        with serving(simulated(**STATIC)) as backend:
            backend.pause()
            backend.submit(ask("a", max_tokens=50))
            backend.step(40)  # nothing runs yet: the batch is not full
            backend.pause()
            backend.submit(ask("b", max_tokens=50))
            backend.step(1)
            wait_until(lambda: num_passes(backend) >= 1, backend.log)
            backend.abort_all()
            wait_for(backend, Finished, 2)
            assert num_passes(backend) == 1

    def test_a_step_with_nothing_to_do_leaves_the_engine_paused(self):
        with serving(simulated()) as backend:
            backend.pause()
            backend.submit(ask("never", 9000))
            wait_for(backend, Finished)
            paused_at = backend.now()
            backend.step(5)
            wait_until(lambda: paused_at < backend.now() == backend.now(), backend.log)
            backend.submit(ask("a"))
            assert wait_for(backend, Arrived, 2)[1].time == backend.now()
            backend.abort("a")
            wait_for(backend, Finished, 2)
            assert num_passes(backend) == 0

    def test_a_step_waits_for_the_next_request_of_a_workload(self):
        with serving(simulated()) as backend:
            backend.pause()
            backend.play(Listed([ask("a", arrival=0.02)]))
            backend.step()
            wait_until(lambda: num_passes(backend) >= 1, backend.log)
            backend.abort("a")
            assert wait_for_reasons(backend, 1) == {"a": FinishReason.ABORT}
            assert num_passes(backend) == 1

    def test_a_paused_engine_can_be_stopped(self):
        with serving(simulated()) as backend:
            backend.pause()
        assert engine_threads() == []


class TestPlay:
    def test_requests_come_at_their_time(self):
        with serving(simulated()) as backend:
            backend.play(Listed([ask("a"), ask("b", arrival=0.03)]))
            first, second = wait_for(backend, Arrived, 2)
            gap = second.request.arrival - first.request.arrival
            assert gap == pytest.approx(0.03)
            assert second.time >= second.request.arrival

    def test_a_faster_workload_comes_sooner(self):
        with serving(simulated()) as backend:
            backend.play(Listed([ask("a"), ask("b", arrival=3000.0)]), speed=100_000.0)
            first, second = wait_for(backend, Arrived, 2)
            assert second.request.arrival - first.request.arrival == pytest.approx(0.03)

    def test_its_speed_can_change_meanwhile(self):
        with serving(simulated()) as backend:
            backend.play(Listed([ask("a"), ask("b", arrival=3000.0)]))
            wait_for(backend, Arrived)
            backend.set_speed(100_000.0)
            assert len(wait_for(backend, Arrived, 2)) == 2

    def test_a_new_one_takes_the_place_of_the_one_before(self):
        with serving(simulated()) as backend:
            backend.play(Listed([ask("a"), ask("never", arrival=3000.0)]))
            wait_for(backend, Arrived)
            backend.play(Listed([ask("b")]))
            backend.set_speed(1e9)
            assert len(wait_for_reasons(backend, 2)) == 2
            assert [e.request.id for e in events_of(backend.log, Arrived)] == ["a", "b"]

    def test_its_last_batch_starts_without_company_and_later_requests_wait_again(self):
        with serving(simulated(**STATIC)) as backend:
            backend.play(Listed([ask("a"), ask("b"), ask("c")]))
            assert set(wait_for_reasons(backend, 3)) == {"a", "b", "c"}
            backend.submit(ask("d"))
            backend.submit(ask("never", 9000))
            assert set(wait_for_reasons(backend, 4)) == {"a", "b", "c", "never"}
            backend.submit(ask("e"))
            assert set(wait_for_reasons(backend, 6)) == {"a", "b", "c", "never", "d", "e"}

    @pytest.mark.parametrize("speed", [0.0, -1.0, float("nan")])
    def test_a_speed_that_is_none_is_refused_where_it_was_given(self, speed: float):
        with serving(simulated()) as backend:
            with pytest.raises(ValueError, match="speed must be above 0"):
                backend.play(Listed([]), speed)
            with pytest.raises(ValueError, match="speed must be above 0"):
                backend.set_speed(speed)
            backend.submit(ask("a"))
            wait_for(backend, Finished)
