"""Engines on a thread of their own, and patience for what they do there."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from engine.backends.local import LocalBackend
from engine.clock import WallClock
from engine.core import EngineCore
from engine.events import Event, Finished, Step
from engine.log import EventLog
from engine.plan import Launch, Plan
from engine.request import FinishReason
from engine.tokenizer import ToyTokenizer
from tests.builders import events_of, make_core
from tests.checked_runner import CheckedRunner

PATIENCE = 2.0  # seconds that a busy machine may need for what takes a millisecond


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
