"""Nothing goes on while nobody can look."""

from __future__ import annotations

import asyncio
from itertools import count

from engine.backends.local import LocalBackend
from engine.core import EngineCore
from engine.cost import Linear
from engine.runners.sim import SimRunner
from engine.settings import EngineSettings
from engine.tokenizer import ToyTokenizer
from tests.builders import make_core
from tests.tui.stage import StageBackend
from tuiapp.session import Session
from tuiapp.suspending import Suspension


def session(**more):
    backend = StageBackend()
    return Session(backend, backend.core.settings, **more), backend


async def test_what_runs_is_paused_and_goes_on_afterwards():
    shown, backend = session()
    suspension = Suspension()
    await suspension.hold([shown])
    assert backend.commands == ["pause"]
    suspension.release()
    suspension.release()
    assert backend.commands == ["pause", "resume"]
    assert not shown.is_paused


async def test_what_a_user_has_paused_stays_so():
    shown, backend = session()
    shown.toggle_pause()
    suspension = Suspension()
    await suspension.hold([shown])
    suspension.release()
    assert backend.commands == ["pause"]


class Slow(StageBackend):
    """A pass is under way, at whose end time stands."""

    def __init__(self) -> None:
        super().__init__()
        self._moments = count()
        self.num_asked = 0

    def now(self) -> float:
        self.num_asked += 1
        return float(min(4, next(self._moments)))


async def test_the_pass_under_way_is_waited_for():
    backend = Slow()
    await Suspension().hold([Session(backend, backend.core.settings)])
    assert backend.num_asked == 6


async def test_an_engine_that_is_not_loaded_is_left_alone():
    shown, backend = session()
    backend.tokenizer = None
    await Suspension().hold([shown])
    assert backend.commands == []


async def test_the_clock_of_a_live_engine_stands():
    def build(clock, log):
        return EngineCore(
            EngineSettings(),
            make_core().info,
            SimRunner(clock, Linear(), 64),
            ToyTokenizer(),
            clock,
            log,
        )

    backend = LocalBackend(build)
    shown = Session(backend, EngineSettings())
    backend.start()
    try:
        async with asyncio.timeout(20):
            while shown.prompts is None:
                await asyncio.sleep(0.01)
        suspension = Suspension()
        await suspension.hold([shown])
        before = backend.now()
        await asyncio.sleep(0.1)
        assert backend.now() == before
        suspension.release()
        async with asyncio.timeout(20):
            while backend.now() == before:
                await asyncio.sleep(0.01)
    finally:
        backend.stop()
