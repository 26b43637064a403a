"""`Lane`: one variant of a comparison, read from the log of its engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import inf, nextafter

from engine.events import EngineInfo, Event, Failed, Finished
from engine.log import EventLog
from engine.metrics import Metrics, Report, Slo
from engine.settings import EngineSettings
from tuiapp.lanes.track import Moment, Track
from tuiapp.running.headless import UNSERVED
from tuiapp.running.outcome import Outcome
from tuiapp.running.passes import PassTimes


class Status(Enum):
    """How far a lane is."""

    WAITING = "to come"
    RUNNING = "runs"
    OVER = "over"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Standing:
    """What the engine's thread says of a lane; replaced as a whole.

    Attributes:
        origin: seconds on the engine's clock when the run began.
        problem: why there is no run, or why it ended early.
        expected: seconds that it will take, as far as that could be told beforehand.
    """

    status: Status = Status.WAITING
    log: EventLog | None = None
    info: EngineInfo | None = None
    settings: EngineSettings | None = None
    origin: float = 0.0
    problem: str = ""
    expected: float | None = None


class Lane:
    """Follows one run.

    Args:
        settings: asked for; the engine's own are in `standing`, once it is built.
        earlier: the numbers of earlier runs of the same requests under the same settings.

    Attributes:
        told: written by the engine's thread alone.
        standing: what it had told when the lane was last read.
        track: what was read so far.
        passes: how long those took that were read so far.
        complaints: what was refused or failed, in the engine's words, each once.
    """

    def __init__(
        self,
        name: str,
        settings: EngineSettings,
        num_requests: int,
        slo: Slo,
        earlier: tuple[Report, ...] = (),
    ) -> None:
        self.name = name
        self.settings = settings
        self.num_requests = num_requests
        self.told = self.standing = Standing()
        self.track = Track()
        self.passes = PassTimes()
        self.complaints: dict[str, None] = {}
        self._slo = slo
        self._earlier = earlier
        self._metrics = Metrics(slo)
        self._position = 0
        self._report: Report | None = None

    @property
    def is_over(self) -> bool:
        """Whether it has come to its end and everything of it was read."""
        return self.standing.status is Status.OVER

    def read(self) -> bool:
        """Take in what is new; return whether anything was."""
        before, self.standing = self.standing, self.told
        has_news = self.standing is not before
        if self.standing.log is None:
            return has_news
        events, self._position = self.standing.log.since(self._position)
        if events:
            self.track.origin = self.standing.origin
            self._report = None
            self._take_in(events)
        return has_news or bool(events)

    def report(self) -> Report:
        """The numbers of what was read so far."""
        if self._report is None:
            self._report = self._metrics.report()
        return self._report

    @property
    def num_runs(self) -> int:
        """This one and those before it."""
        return 1 + len(self._earlier)

    @property
    def is_simulated(self) -> bool:
        """Whether its times come from a cost model, so that it repeats itself exactly."""
        info = self.standing.info
        return info is not None and info.is_simulated

    @property
    def problem(self) -> str:
        """Why it ended early or never began; empty otherwise."""
        return self.standing.problem if self.standing.status is Status.FAILED else ""

    def values(self, metric: str) -> list[float]:
        """A metric in every run that has it."""
        found = (report.value(metric) for report in (*self._earlier, self.report()))
        return [float(number) for number in found if number is not None]

    def again(self) -> Lane:
        """The same to be run once more; what this run came to counts on, if it is over."""
        earlier = (*self._earlier, self.report()) if self.is_over else self._earlier
        fresh = Lane(self.name, self.settings, self.num_requests, self._slo, earlier)
        fresh.told = Standing(expected=self.track.ended if self.is_over else None)
        fresh.read()
        return fresh

    def outcome(self) -> Outcome | None:
        """The run as reports take it; None before there is an engine."""
        standing = self.standing
        if standing.info is None or standing.settings is None:
            return None
        return Outcome(
            variant=self.name,
            settings=standing.settings,
            info=standing.info,
            report=self.report(),
            complaints=tuple(self.complaints),
            is_interrupted=not self.is_over,
            others=self._earlier,
            passes=self.passes,
        )

    def moment(self, time: float | None = None) -> Moment:
        """The lane at a moment; None for the newest."""
        if time is None:
            ended = self.track.ended
            time = nextafter(ended, inf) if self.is_over else ended  # then nobody is left
        return self.track.moment(time)

    def _take_in(self, events: Sequence[Event]) -> None:
        self.track.write(events)
        self.passes.write(events)
        self._metrics.feed(events)
        for event in events:
            match event:
                case Failed(message=message):
                    self.complaints[message] = None
                case Finished(reason=reason, message=message) if reason in UNSERVED:
                    self.complaints[message] = None
                case _:
                    pass
