"""The engine on its own thread: commands in, events out, and errors that do not vanish."""

from __future__ import annotations

from engine.backends.local import LocalBackend
from engine.clock import WallClock
from engine.config import ConfigError
from engine.core import EngineCore
from engine.events import Arrived, Configured, Delivered, Failed, Ready, Step
from engine.log import EventLog
from engine.plan import RunnerError
from engine.request import FinishReason
from engine.settings import BatcherName, EngineSettings
from engine.tokenizer import ToyTokenizer
from tests.builders import ask, events_of
from tests.on_a_thread import (
    broken,
    engine_threads,
    num_passes,
    serving,
    simulated,
    wait_for,
    wait_for_reasons,
    wait_until,
)

STATIC = {"batcher": BatcherName.STATIC, "max_batch_size": 2}


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
