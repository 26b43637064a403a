"""The engine on its own thread: commands in, events out, and errors that do not vanish."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from engine.backends.local import LocalBackend
from engine.clock import WallClock
from engine.config import ConfigError
from engine.core import EngineCore
from engine.events import (
    Arrived,
    Configured,
    Delivered,
    Event,
    Failed,
    Finished,
    Gauges,
    Noted,
    Ready,
    Step,
)
from engine.log import EventLog
from engine.plan import Launch, Plan, RunnerError
from engine.request import FinishReason
from engine.settings import BatcherName, EngineSettings
from engine.tokenizer import ToyTokenizer
from engine.workload import Listed
from tests.builders import CheckedRunner, ask, events_of, make_core

PATIENCE = 2.0  # seconds that a busy machine may need for what takes a millisecond
STATIC = {"batcher": BatcherName.STATIC, "max_batch_size": 2}


def simulated(**knobs: Any) -> Callable[[WallClock, EventLog], EngineCore]:
    return lambda clock, log: make_core(clock=clock, log=log, cost=0.0, **knobs)


def broken(error: Exception) -> Callable[[WallClock, EventLog], EngineCore]:
    """An engine whose first pass goes wrong."""

    class Broken(CheckedRunner):
        num_passes = 0

        def launch(self, plan: Plan) -> Launch:
            self.num_passes += 1
            if self.num_passes == 1:
                raise error
            return super().launch(plan)

        def resize(self, num_blocks: int, block_size: int) -> None:
            raise error

    return lambda clock, log: make_core(
        clock=clock, log=log, runner=Broken(clock, ToyTokenizer().vocab_size, 16, cost=0.0)
    )


@contextmanager
def serving(
    build: Callable[[WallClock, EventLog], EngineCore], **options: Any
) -> Iterator[LocalBackend]:
    backend = LocalBackend(build, **options)
    backend.start()
    try:
        yield backend
    finally:
        backend.stop()


def wait_until(is_true: Callable[[], bool], log: EventLog) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_true():
        assert time.monotonic() < deadline, log.since(0)[0]
        time.sleep(0.001)


def wait_for(backend: LocalBackend, kind: type[Event], count: int = 1) -> list[Any]:
    """The events of a kind, once there are so many."""
    wait_until(lambda: len(events_of(backend.log, kind)) >= count, backend.log)
    return events_of(backend.log, kind)


def wait_for_reasons(backend: LocalBackend, count: int) -> dict[str, FinishReason]:
    return {event.request_id: event.reason for event in wait_for(backend, Finished, count)}


def num_passes(backend: LocalBackend) -> int:
    return sum(bool(step.rows) for step in events_of(backend.log, Step))


def engine_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "engine"]


def test_requests_are_served_and_impossible_ones_refused():
    with serving(simulated()) as backend:
        backend.submit(ask("fits"))
        backend.submit(ask("never", 9000))
        assert wait_for_reasons(backend, 2) == {
            "fits": FinishReason.LENGTH,
            "never": FinishReason.REJECTED,
        }
        assert sum(event.num_tokens for event in events_of(backend.log, Delivered)) == 4


def test_a_request_arrives_when_it_is_submitted_whatever_it_says():
    with serving(simulated()) as backend:
        backend.submit(ask("a", arrival=1e9))
        [arrived] = wait_for(backend, Arrived)
        assert 0 <= arrived.request.arrival <= arrived.time <= backend.now() < 1e6


def test_it_has_a_tokenizer_once_it_is_ready():
    backend = LocalBackend(simulated())
    assert backend.tokenizer is None
    backend.start()
    wait_for(backend, Configured)
    wait_until(lambda: backend.tokenizer is not None, backend.log)
    backend.stop()
    assert isinstance(backend.tokenizer, ToyTokenizer)


def test_it_reads_the_gauges_of_its_device():
    with serving(simulated()) as backend:
        [gauges, *_] = wait_for(backend, Gauges)
        assert gauges.name == "CPU"
        assert 0 < gauges.memory_used <= gauges.memory_total


class Dead:
    """A gauge that cannot be read."""

    def read(self, now: float) -> Gauges:
        raise OSError("the bus is gone")

    def close(self) -> None:
        pass


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


class TestAbort:
    def test_only_the_named_request_ends(self):
        with serving(simulated(**STATIC)) as backend:
            backend.submit(ask("a"))
            backend.abort("a")
            backend.submit(ask("b"))
            backend.submit(ask("c"))
            assert wait_for_reasons(backend, 3) == {
                "a": FinishReason.ABORT,
                "b": FinishReason.LENGTH,
                "c": FinishReason.LENGTH,
            }

    def test_all_live_requests_end_at_once(self):
        with serving(simulated(batcher=BatcherName.STATIC, max_batch_size=3)) as backend:
            backend.submit(ask("a"))
            backend.submit(ask("b"))
            backend.abort_all()
            assert set(wait_for_reasons(backend, 2).values()) == {FinishReason.ABORT}


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


class TestFlush:
    def test_a_waiting_batch_starts(self):
        with serving(simulated(**STATIC)) as backend:
            backend.submit(ask("a"))
            backend.flush()
            assert wait_for_reasons(backend, 1) == {"a": FinishReason.LENGTH}


class TestConfigure:
    def test_the_batcher_changes_while_requests_run(self):
        with serving(simulated()) as backend:
            backend.pause()
            backend.submit(ask("a", max_tokens=9))
            backend.step(3)
            wait_until(lambda: num_passes(backend) == 3, backend.log)
            backend.configure(EngineSettings(BatcherName.STATIC, max_batch_size=1))
            backend.resume()
            assert wait_for_reasons(backend, 1) == {"a": FinishReason.LENGTH}
            assert [e.settings.batcher for e in events_of(backend.log, Configured)] == [
                BatcherName.CONTINUOUS,
                BatcherName.STATIC,
            ]

    def test_a_cache_that_cannot_be_had_is_reported_and_the_engine_serves_on(self):
        with serving(broken(RunnerError("no memory for it"))) as backend:
            backend.submit(ask("a"))  # whose pass fails
            backend.configure(EngineSettings(num_kv_blocks=10**7))
            failures = wait_for(backend, Failed, 2)
            assert {(event.message, event.is_usage) for event in failures} == {
                ("no memory for it", False),
                ("the settings stay as they are: no memory for it", True),
            }
            assert not any(event.is_fatal for event in failures)
            backend.submit(ask("b"))
            assert wait_for_reasons(backend, 2)["b"] is FinishReason.LENGTH
            assert len(events_of(backend.log, Configured)) == 1


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


class TestErrors:
    def test_a_failed_pass_is_reported_and_the_engine_serves_on(self):
        with serving(broken(RunnerError("out of memory"))) as backend:
            backend.submit(ask("a"))
            assert wait_for_reasons(backend, 1) == {"a": FinishReason.ERROR}
            [failed] = wait_for(backend, Failed)
            assert (failed.message, failed.is_fatal) == ("out of memory", False)
            backend.submit(ask("b"))
            assert wait_for_reasons(backend, 2)["b"] is FinishReason.LENGTH

    def test_a_dead_engine_says_so_and_can_be_stopped_at_once(self):
        backend = LocalBackend(broken(ZeroDivisionError("a bug of ours")))
        backend.start()
        backend.submit(ask("a"))
        [failed] = wait_for(backend, Failed)
        assert failed.message == "ZeroDivisionError: a bug of ours"
        assert (failed.is_fatal, failed.is_usage) == (True, False)
        backend.submit(ask("b"))
        backend.stop()
        assert engine_threads() == []

    def test_an_engine_that_cannot_be_built_says_why(self):
        def build(clock: WallClock, log: EventLog) -> EngineCore:
            raise OSError("no such file")

        backend = LocalBackend(build)
        backend.start()
        [failed] = wait_for(backend, Failed)
        backend.stop()
        assert (failed.message, failed.is_fatal) == ("OSError: no such file", True)
        assert (backend.tokenizer, events_of(backend.log, Ready)) == (None, [])

    def test_what_a_user_asked_for_wrongly_is_told_from_a_fault(self):
        def build(clock: WallClock, log: EventLog) -> EngineCore:
            raise ConfigError("unknown device 'cudo'; did you mean 'cuda'?")

        backend = LocalBackend(build)
        backend.start()
        [failed] = wait_for(backend, Failed)
        backend.stop()
        assert failed.message == "unknown device 'cudo'; did you mean 'cuda'?"
        assert (failed.is_fatal, failed.is_usage) == (True, True)


class TestStop:
    def test_it_ends_the_thread_even_with_work_left(self):
        with serving(simulated()) as backend:
            backend.submit(ask("a", max_tokens=8000))
            wait_for(backend, Step)
        assert engine_threads() == []

    def test_twice_or_before_a_start_it_is_harmless(self):
        backend = LocalBackend(simulated())
        backend.stop()
        with serving(simulated()) as started:
            started.stop()
        assert engine_threads() == []
