"""A stage for screens: a whole engine with no thread, that runs when a test says so."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import asynccontextmanager
from typing import Any

from engine.clock import VirtualClock
from engine.core import EngineCore
from engine.cost import Linear
from engine.events import EngineInfo
from engine.log import EventLog
from engine.plan import RunnerError
from engine.request import Request, SamplingParams
from engine.runners.parts import ModelSpec
from engine.runners.sim import SimRunner
from engine.settings import EngineSettings
from engine.tokenizer import ToyTokenizer
from engine.workload import Workload
from tuiapp.app import Playground
from tuiapp.preferences import Found, Preferences
from tuiapp.session import Session
from tuiapp.shot.stage import Stage, set_stage
from tuiapp.shot.stepped import SteppedBackend
from tuiapp.view.snapshot import Snapshot
from tuiapp.view.viewmodel import ViewModel

SIZES = [(120, 36), (80, 24)]


class FailingRunner(SimRunner):
    """Fails the next pass when told to."""

    fails_next = False

    def launch(self, plan):
        if self.fails_next:
            self.fails_next = False
            raise RunnerError("out of memory: 512 tokens did not fit [on purpose]")
        return super().launch(plan)


class StageBackend(SteppedBackend):
    """A toy engine; it notes the orders that the toy has no use for."""

    def __init__(self, *, log: EventLog | None = None, **knobs) -> None:
        clock, tokenizer = VirtualClock(), ToyTokenizer()
        self.runner = FailingRunner(clock, Linear(), tokenizer.vocab_size)
        settings = EngineSettings(
            **{"num_kv_blocks": 256, "long_prefill_token_threshold": 64} | knobs
        )
        info = EngineInfo(
            model="toy",
            device="sim",
            dtype="none",
            attention="none",
            num_params=0,
            max_model_len=4096,
            num_kv_blocks=256,
            block_size=16,
            is_simulated=True,
        )
        core = EngineCore(
            settings, info, self.runner, tokenizer, clock, EventLog() if log is None else log
        )
        super().__init__(core, clock)
        self.commands: list[str] = []

    def play(self, workload: Workload, speed: float = 1.0, *, in_steps: bool = False) -> None:
        super().play(workload, speed)  # its passes take what the reference device's do

    def start(self) -> None:
        self.commands.append("start")

    def set_speed(self, speed: float) -> None:
        self.commands.append(f"speed {speed:g}")

    def pause(self) -> None:
        self.commands.append("pause")

    def resume(self) -> None:
        self.commands.append("resume")

    def stop(self) -> None:
        self.commands.append("stop")


def played(
    *requests: Request, num_passes: int = 1, **knobs: Any
) -> tuple[StageBackend, ViewModel, Snapshot]:
    """A backend that has run, who reads its log, and the frame after it."""
    backend = StageBackend(**knobs)
    for request in requests:
        backend.submit(request)
    backend.run(num_passes)
    viewmodel = ViewModel(backend.log)
    return backend, viewmodel, viewmodel.poll(backend.now())


class ToyStage(Stage):
    """A stage with its toy engine."""

    def __init__(self, stage: Stage, backend: StageBackend) -> None:
        super().__init__(stage.app, stage.pilot)
        self.backend = backend

    async def run(self, num_passes: int) -> None:
        self.backend.run(num_passes)
        await self.settle()

    async def until(self, condition: Callable[[], bool], seconds: float = 20.0) -> None:
        """Wait for what another thread does."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "it did not happen in time"
            await self.pilot.pause(0.02)


@asynccontextmanager
async def staged(
    size=(120, 36),
    traffic: Callable[[StageBackend], None] | None = None,
    *,
    ascii_only=False,
    library=None,
    own=None,
    **knobs,
):
    """An app that runs headless, after `traffic` has been submitted."""
    backend = StageBackend(**knobs)
    if traffic:
        traffic(backend)
    spec = ModelSpec(device="sim:linear")
    session = Session(backend, backend.core.settings, seed=7, spec=spec)
    own = own or Found(Preferences(ascii=ascii_only))
    app = Playground(session, own=own, library=library)
    async with set_stage(app, size, has_toasts=True) as stage:
        yield ToyStage(stage, backend)


def mixed_traffic(backend: StageBackend) -> None:
    """Forty requests, most of them short and some long, as their numbers decide."""
    for number in range(40):
        prompt = (3 + number % 20,) * (12 + number * 37 % 90 + (300 if number % 9 == 4 else 0))
        sampling = SamplingParams(max_tokens=6 + number * 53 % 110)
        backend.submit(Request(f"r{number}", prompt, sampling, label="mix"))


def alike_traffic(backend: StageBackend, first: int = 0) -> None:
    """Requests that all begin with the same ninety-six tokens, numbered from the first."""
    for number in range(first, first + 20):
        prompt = (2,) * 96 + (3 + number,) * (4 + number * 37 % 60)
        sampling = SamplingParams(max_tokens=6 + number * 53 % 50)
        backend.submit(Request(f"r{number}", prompt, sampling, label="alike"))
