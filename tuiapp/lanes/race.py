"""`Race`: runs lanes on a live engine's thread, with the model that it has loaded.

Where a model is loaded they run one after another, since they share it; a simulation without one
runs all at once, always the one whose clock is behind, so that they advance together.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from engine.config import ConfigError
from engine.core import EngineCore
from engine.cost import CostModel
from engine.pace import measure_pace
from engine.plan import RunnerError
from engine.prompts import PromptMaker
from engine.request import Request
from engine.run import advance
from engine.runners.parts import ModelSpec
from engine.settings import EngineSettings
from engine.workload import Feed
from tuiapp.lanes.forecast import Measured, as_slow_as, fit_passes, in_toy_tokens, rehearse
from tuiapp.lanes.lane import Lane, Standing, Status
from tuiapp.lanes.traffic import Traffic
from tuiapp.running.engines import Engines
from tuiapp.running.headless import warm_up

BURST, REST = 32, 0.002  # steps of a simulation between two rests, in seconds, for the screen


@dataclass(slots=True)
class _Run:
    """A lane with the engine that runs it."""

    lane: Lane
    core: EngineCore
    feed: Feed

    @property
    def time(self) -> float:
        """Seconds since it began."""
        return self.core.clock.now() - self.lane.told.origin


class Race:
    """It is an `engine.backends.guest.Guest`.

    Args:
        lanes: in the order in which they run.
        pace: what the times of the traffic are multiplied by; None measures it, if need be.
        cost: how long passes take, in place of what the device says.

    Attributes:
        is_over: whether it has left the engine.
    """

    def __init__(
        self,
        spec: ModelSpec,
        traffic: Traffic,
        lanes: Sequence[Lane],
        pace: float | None = None,
        cost: CostModel | None = None,
    ) -> None:
        self.is_over = False
        self.pace = pace
        self._spec = spec
        self._traffic = traffic
        self._pending = list(lanes)
        self._untold = [lane for lane in lanes if lane.told.expected is None]
        self._runs: list[_Run] = []
        self._host: EngineCore | None = None
        self._passes: Measured | None = None
        self._cost = cost
        self._engines = Engines(spec, log_capacity=None, cost=cost)
        self._requests: Sequence[Request] = ()
        self._rehearsed: list[Request] = []
        self._is_cancelled = False
        self._num_steps = 0

    def cancel(self) -> None:
        """Leave the engine after the pass under way; may be called from any thread."""
        self._is_cancelled = True

    def begin(self, host: EngineCore) -> None:
        predecessor = host if self._engines.has_model else None
        self._engines = Engines(self._spec, predecessor, log_capacity=None, cost=self._cost)
        self._host, self._passes = host, fit_passes(host.log.since(0)[0])

    def turn(self) -> float | None:
        if self._is_cancelled:
            self._end("broken off")
        elif self._untold and not self._engines.is_simulated:
            self._foresee(self._untold.pop(0))
        elif self._pending and not (self._engines.has_model and self._runs):
            self._start(self._pending.pop(0))
        elif self._runs:
            return self._step(min(self._runs, key=lambda run: run.time))
        self.is_over = not (self._pending or self._runs)
        return None if self.is_over else 0.0

    def _foresee(self, lane: Lane) -> None:
        """Tell how long a lane will take, if it can run; else it says why when its turn comes."""
        host = self._host
        assert host, "a guest begins before it has the turn"
        with suppress(ConfigError, RunnerError):
            cost = self._passes = self._passes or self._measure_passes(lane.settings)
            pace = cost.pace if self._traffic.is_paced_in_steps else 1.0
            asked = self._rehearsed
            if not asked and not self._is_cancelled:
                asked += in_toy_tokens(self._traffic.requests(PromptMaker(host.tokenizer)))
            workload = self._traffic.rehearsal(asked, pace)
            seconds = rehearse(
                lane.settings, host.info, workload, len(asked), cost, lambda: self._is_cancelled
            )
            lane.told = Standing(expected=seconds)

    def _measure_passes(self, settings: EngineSettings) -> Measured:
        """A few passes on an engine to spare, where the live one has run too few.

        Raises:
            ConfigError, RunnerError: there can be no such engine, or its first passes fail.
        """
        return as_slow_as(measure_pace(self._engines.build(settings)))

    def _start(self, lane: Lane) -> None:
        """Build the engine of a lane; where that cannot be, the lane says why."""
        try:
            self._prepare(lane.settings)
            core = self._engines.build(lane.settings)
        except (ConfigError, RunnerError) as error:
            lane.told = replace(lane.told, status=Status.FAILED, problem=str(error))
            return
        origin = core.clock.now()
        workload = self._traffic.workload(self._requests, self.pace or 1.0)
        lane.told = Standing(
            Status.RUNNING,
            core.log,
            core.info,
            core.settings,
            origin,
            expected=lane.told.expected,
        )
        self._runs.append(_Run(lane, core, Feed(workload, origin)))

    def _prepare(self, settings: EngineSettings) -> None:
        """Write the requests, measure the pace and warm the device up, on an engine to spare.

        Raises:
            ConfigError, RunnerError: there can be no such engine, or its first passes fail.
        """
        is_real, has_pace = not self._engines.is_simulated, self.pace is not None
        if self._requests and has_pace and not is_real:
            return
        spare = self._engines.build(settings)
        if not self._requests:
            self._requests = self._traffic.requests(PromptMaker(spare.tokenizer))
        if not has_pace:
            self.pace = measure_pace(spare) if self._traffic.is_paced_in_steps else 1.0
        if is_real:
            warm_up(spare, self._requests[0])

    def _step(self, run: _Run) -> float:
        """One step of a lane; return seconds until the next."""
        core, feed = run.core, run.feed
        wake_at = advance(core, feed)
        if feed.is_over and not core.has_work:
            core.step()  # retires the last finished sequences
            self._leave(run, Status.OVER)
            return 0.0
        if wake_at is None:
            return self._rest()
        if wake_at == float("inf"):
            self._leave(run, Status.FAILED, "it waits for what never comes")
            return 0.0
        wait = max(0.0, wake_at - core.clock.now())
        if not self._engines.is_simulated:
            return wait
        core.clock.sleep(wait)
        return self._rest()

    def _rest(self) -> float:
        """Seconds that a simulation leaves to the screen now and then."""
        self._num_steps += 1
        is_due = self._engines.is_simulated and self._num_steps % BURST == 0
        return REST if is_due else 0.0

    def _leave(self, run: _Run, status: Status, problem: str = "") -> None:
        self._runs.remove(run)
        run.lane.told = replace(run.lane.told, status=status, problem=problem)

    def _end(self, problem: str) -> None:
        """Leave everything as it is."""
        for run in list(self._runs):
            self._leave(run, Status.FAILED, problem)
        for lane in self._pending:
            lane.told = Standing(Status.FAILED, problem=problem)
        self._pending.clear()
