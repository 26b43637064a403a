"""A stage for screens: a whole engine with no thread, that runs when a test says so."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from textual.pilot import Pilot

from engine.clock import VirtualClock
from engine.core import EngineCore
from engine.cost import Linear
from engine.events import EngineInfo, Failed
from engine.log import EventLog
from engine.plan import RunnerError
from engine.request import Request, SamplingParams
from engine.run import advance
from engine.runners.sim import SimRunner
from engine.settings import EngineSettings
from engine.tokenizer import ToyTokenizer
from engine.workload import Feed, Workload
from tuiapp.app import Playground
from tuiapp.screens.live import LiveScreen
from tuiapp.session import Session

SIZES = [(120, 36), (80, 24)]


class FailingRunner(SimRunner):
    """Fails the next pass when told to."""

    fails_next = False

    def launch(self, plan):
        if self.fails_next:
            self.fails_next = False
            raise RunnerError("out of memory: 512 tokens did not fit [on purpose]")
        return super().launch(plan)


class StageBackend:
    """Obeys at once, on a virtual clock; forward passes run only in `run`."""

    def __init__(self, **knobs) -> None:
        self.log = EventLog()
        self.clock = VirtualClock()
        self.tokenizer = ToyTokenizer()
        self.runner = FailingRunner(self.clock, Linear(), self.tokenizer.vocab_size)
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
        self.core = EngineCore(settings, info, self.runner, self.tokenizer, self.clock, self.log)
        self.feed: Feed | None = None
        self.commands: list[str] = []

    def run(self, num_passes: int) -> None:
        """So many forward passes, or until nothing more can happen."""
        while num_passes:
            wake_at = advance(self.core, self.feed)
            if wake_at is None:
                num_passes -= 1
            elif wake_at == float("inf"):
                return
            else:
                self.clock.sleep(wake_at - self.clock.now())

    def now(self) -> float:
        return self.clock.now()

    def start(self) -> None:
        self.commands.append("start")

    def submit(self, request: Request) -> None:
        self.core.add(replace(request, arrival=self.now()))

    def play(self, workload: Workload, speed: float = 1.0, *, in_steps: bool = False) -> None:
        self.feed = Feed(workload, self.now(), speed)

    def set_speed(self, speed: float) -> None:
        self.commands.append(f"speed {speed:g}")

    def abort(self, request_id: str) -> None:
        self.core.abort(request_id)

    def abort_all(self) -> None:
        self.core.abort_all()

    def flush(self) -> None:
        self.core.flush()

    def configure(self, settings: EngineSettings) -> None:
        try:
            self.core.configure(settings)
        except RunnerError as error:
            self.log.append(Failed(self.now(), str(error), is_usage=True))

    def pause(self) -> None:
        self.commands.append("pause")

    def resume(self) -> None:
        self.commands.append("resume")

    def step(self, count: int = 1) -> None:
        self.run(count)

    def stop(self) -> None:
        self.commands.append("stop")


class Stage:
    """An app on a stage backend, with the pilot that presses its keys."""

    def __init__(self, app: Playground, backend: StageBackend, pilot: Pilot[int]) -> None:
        self.app = app
        self.backend = backend
        self.pilot = pilot

    async def settle(self) -> None:
        """Draw what has happened, and let the layout come to rest."""
        for _ in range(3):
            await self.pilot.pause()
            live = self.app.screen_stack[0]
            assert isinstance(live, LiveScreen)
            live.draw_all()
        await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.settle()

    async def run(self, num_passes: int) -> None:
        self.backend.run(num_passes)
        await self.settle()


@asynccontextmanager
async def staged(
    size=(120, 36),
    traffic: Callable[[StageBackend], None] | None = None,
    *,
    ascii_only=False,
    **knobs,
):
    """An app that runs headless, after `traffic` has been submitted."""
    backend = StageBackend(**knobs)
    if traffic:
        traffic(backend)
    session = Session(backend, backend.core.settings, seed=7)
    app = Playground(session, ascii_only=ascii_only)
    async with app.run_test(size=size, notifications=True) as pilot:
        stage = Stage(app, backend, pilot)
        await stage.settle()
        yield stage


def mixed_traffic(backend: StageBackend) -> None:
    """Forty requests, most of them short and some long, as their numbers decide."""
    for number in range(40):
        prompt = (3 + number % 20,) * (12 + number * 37 % 90 + (300 if number % 9 == 4 else 0))
        sampling = SamplingParams(max_tokens=6 + number * 53 % 110)
        backend.submit(Request(f"r{number}", prompt, sampling, label="mix"))
