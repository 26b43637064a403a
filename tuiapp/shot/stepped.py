"""`SteppedBackend`: an engine in the calling thread, which runs when told to and not before."""

from __future__ import annotations

from dataclasses import replace
from math import inf

from engine.act import change_settings
from engine.backends.guest import Guest, Visit
from engine.clock import VirtualClock
from engine.core import EngineCore
from engine.pace import measure_pace
from engine.request import Request
from engine.run import advance
from engine.settings import EngineSettings
from engine.workload import Feed, Workload


class SteppedBackend:
    """Obeys at once, on a virtual clock; forward passes run only in `run` and `run_until`.

    So whoever draws it gets the same picture however fast the machine is.

    Attributes:
        visit: of a guest, whose steps count as passes while it has the engine.
    """

    def __init__(self, core: EngineCore, clock: VirtualClock) -> None:
        self.core = core
        self.clock = clock
        self.log = core.log
        self.tokenizer = core.tokenizer
        self.feed: Feed | None = None
        self.visit: Visit | None = None

    def run(self, num_passes: int) -> int:
        """So many forward passes, or until nothing more can happen; return how many ran."""
        for done in range(num_passes):
            if not self._run_pass(inf):
                return done
        return num_passes

    def run_until(self, time: float) -> None:
        """Until that moment: the last pass is the one that it falls into."""
        while self.clock.now() < time and self._run_pass(time):
            pass

    @property
    def is_over(self) -> bool:
        """Whether all that was to arrive has come, and was answered."""
        return (self.feed is None or self.feed.is_over) and not self.core.has_work

    def now(self) -> float:
        return self.clock.now()

    def start(self) -> None: ...

    def submit(self, request: Request) -> None:
        self.core.add(replace(request, arrival=self.now()))

    def play(self, workload: Workload, speed: float = 1.0, *, in_steps: bool = False) -> None:
        pace = self._measure_pace() if in_steps else 1.0
        self.feed = Feed(workload, self.now(), speed, pace)

    def set_speed(self, speed: float) -> None:
        if self.feed:
            self.feed.set_speed(speed, self.now())

    def abort(self, request_id: str) -> None:
        self.core.abort(request_id)

    def abort_all(self) -> None:
        self.core.abort_all()

    def flush(self) -> None:
        self.core.flush()

    def configure(self, settings: EngineSettings) -> None:
        change_settings(self.core, settings)

    def clear_cache(self) -> None:
        self.core.clear_cache()

    def lend(self, guest: Guest) -> None:
        self.visit = Visit(self.core, guest)

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def step(self, count: int = 1) -> None:
        self.run(count)

    def stop(self) -> None: ...

    def _run_pass(self, until: float) -> bool:
        """Wait for the next forward pass and run it; False where none begins before `until`.

        While a guest has the engine, its next step takes the place of a pass.
        """
        if self.visit:
            self.visit = None if self.visit.turn() is None else self.visit
            return True
        while (wake_at := advance(self.core, self.feed)) is not None:
            if wake_at >= until:
                if until < inf:
                    self.clock.sleep(until - self.now())
                return False
            self.clock.sleep(wake_at - self.now())
        return True

    def _measure_pace(self) -> float:
        self.core.preempt_all()  # what runs makes room
        return measure_pace(self.core)
