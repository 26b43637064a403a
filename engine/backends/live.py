"""`Live`: the core with what being watched adds: a feed, a clock that can be held, guests, gauges.

Not a thread, nor a queue: `backends.local` has these, and calls what is here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace

from engine.act import change_settings
from engine.backends.guest import Guest, Visit
from engine.clock import WallClock
from engine.core import EngineCore
from engine.events import Failed, Noted
from engine.pace import measure_pace
from engine.plan import RunnerError
from engine.request import Request
from engine.run import advance
from engine.settings import EngineSettings
from engine.telemetry import Poller
from engine.workload import Feed, Workload

IDLE_SECONDS = 0.05  # an engine with nothing to do looks about so often

Command = Callable[["Live"], object]


class Live:
    """An engine that somebody watches; its verbs are called on its own thread alone.

    Attributes:
        is_stopped: nothing more is to happen.
    """

    def __init__(self, core: EngineCore, clock: WallClock, gauges: Poller) -> None:
        self.core = core
        self._gauges = gauges
        self.is_stopped = False
        self._clock = clock
        self._feed: Feed | None = None
        self._pace: float | None = None
        self._is_paused = False
        self._steps_left = 0
        self._visit: Visit | None = None
        self._put_off: deque[Command] = deque()  # what came during a visit

    def turn(self) -> float:
        """Run a step unless paused; return seconds that may be spent waiting for a command."""
        if self._visit:
            return self._host(self._visit)
        if self._is_paused and not self._steps_left:
            return IDLE_SECONDS
        self._note_gauges()
        wake_at = advance(self.core, self._feed)
        if wake_at is None:
            self._count_step()
            return 0.0
        if self._is_paused and wake_at == float("inf"):
            self.pause()  # no pass is to come, so nothing is left to step through
        return min(IDLE_SECONDS, max(0.001, wake_at - self._clock.now()))

    def obey(self, command: Command) -> None:
        """Carry out a command; while a guest has the model, only that to stop."""
        if self._visit and command is not stop:
            self._put_off.append(command)
        else:
            command(self)

    def lend(self, guest: Guest) -> None:
        self._clock.hold()
        self._visit = Visit(self.core, guest)

    def _host(self, visit: Visit) -> float:
        """Run a step of a guest's; when it has left, go on from where time was held."""
        seconds = visit.turn()
        if seconds is not None:
            return min(IDLE_SECONDS, seconds)
        self._visit = None
        if not self._is_paused or self._steps_left:
            self._clock.release()
        while self._put_off and not self._visit:
            self._put_off.popleft()(self)
        return 0.0

    def submit(self, request: Request) -> None:
        self.core.add(replace(request, arrival=self._clock.now()))

    def play(self, workload: Workload, speed: float, *, in_steps: bool) -> None:
        pace = self._measure_pace() if in_steps else 1.0
        self._feed = Feed(workload, self._clock.now(), speed, pace)

    def _measure_pace(self) -> float:
        """Measure once, when it is first asked for; what runs makes room, and is run again."""
        if self._pace is None:
            self.core.preempt_all()
            self._clock.release()
            try:
                self._pace = measure_pace(self.core)
            except RunnerError as error:
                self.core.log.append(Failed(self._clock.now(), str(error)))
            if self._is_paused:
                self._clock.hold()
        return self._pace or 1.0

    def set_speed(self, speed: float) -> None:
        if self._feed:
            self._feed.set_speed(speed, self._clock.now())

    def configure(self, settings: EngineSettings) -> None:
        change_settings(self.core, settings)

    def pause(self) -> None:
        self.core.settle()
        self._is_paused, self._steps_left = True, 0
        self._clock.hold()
        self._note_gauges()

    def resume(self) -> None:
        self._is_paused = False
        self._note_gauges()
        self._clock.release()

    def step(self, count: int) -> None:
        if self._is_paused:
            self._steps_left += count
            self._note_gauges()
            self._clock.release()

    def stop(self) -> None:
        self.core.settle()
        self.is_stopped = True

    def _note_gauges(self) -> None:
        """Log the newest reading.

        Not while the clock is held, but once as it stops and once before it goes on, both as of
        the same moment: what the device took meanwhile is then seen to be no part of the run.
        """
        if gauges := self._gauges.take(self._clock.now()):
            self.core.log.append(gauges)
        if problem := self._gauges.take_problem():
            self.core.log.append(Noted(self._clock.now(), problem))

    def _count_step(self) -> None:
        if self._is_paused:
            self.core.settle()  # who steps through passes wants to see what this one brought
            self._steps_left -= 1
            if not self._steps_left:
                self._clock.hold()


def stop(live: Live) -> None:
    """The one command that a guest does not put off."""
    live.stop()
