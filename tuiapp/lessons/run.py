"""`LessonRun`: plays the runs of a lesson on the engine that is there, and measures each.

The numbers are folded from the log by the same `Metrics` that `batchscope run` reports.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.config import ConfigError
from engine.events import Configured, EngineInfo, Event, Failed, Ready
from engine.metrics import Metrics, Report
from tuiapp.counting import verb
from tuiapp.lessons.lesson import Lesson
from tuiapp.presets import Preset
from tuiapp.session import SPEEDS, Session


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a lesson is.

    Attributes:
        run: which run plays now; empty once all are over.
        num_done, num_requests: of that run.
        problem: why there will be no answer; empty if all is well.
    """

    run: str
    num_done: int
    num_requests: int
    problem: str = ""

    @property
    def is_over(self) -> bool:
        return not self.run


class LessonRun:
    """Takes over the engine until `leave`, which goes back to what went on before.

    Args:
        info: what runs.

    Attributes:
        reports: by run, of those that are over.
    """

    def __init__(self, session: Session, info: EngineInfo, lesson: Lesson, preset: Preset) -> None:
        self.reports: dict[str, Report] = {}
        self._session = session
        self._info = info
        self._preset = preset
        self._left = list(lesson.runs)
        self._before = session.pastime()
        self._position = 0
        self._metrics: Metrics | None = None  # once the engine has the settings of the run
        self._problem = ""
        self._has_left = False

    def start(self) -> None:
        """Play the first run, at the speed that it was written for."""
        session = self._session
        session.change_speed(SPEEDS.index(1.0) - SPEEDS.index(session.speed))
        if session.is_paused:
            session.toggle_pause()
        self._play()

    def poll(self) -> Progress:
        """Read what happened; go on with the next run when one is over."""
        if self._left and not self._problem:
            events, self._position = self._session.backend.log.since(self._position)
            for event in events:
                self._read(event)
        num_requests = len(self._preset.drafts)
        if not self._left:
            return Progress("", num_requests, num_requests, self._problem)
        report = self._metrics.report() if self._metrics else None
        num_done = _num_done(report) if report else 0
        if report and (num_lost := report.service.num_rejected + report.service.num_failed):
            were = verb(num_lost, "was", "were")
            self._problem = f"{num_lost} of {num_requests} requests {were} refused or failed"
        progress = Progress(self._left[0], num_done, num_requests, self._problem)
        if report and num_done >= num_requests and not self._problem:
            self.reports[self._left.pop(0)] = report
            if self._left:
                self._play()
        return progress

    def leave(self) -> None:
        """End what runs, and go back to what went on before."""
        if not self._has_left:
            self._has_left = True
            self._session.resume(self._before)

    def _play(self) -> None:
        self._metrics = None
        self._position = len(self._session.backend.log)
        try:
            self._session.play_preset(self._preset, self._left[0])
        except ConfigError as error:
            self._problem = str(error)

    def _read(self, event: Event) -> None:
        """Measure from where the engine has the settings, and nothing of before runs."""
        match event:
            case Failed(message=message):
                self._problem = message
            case Configured(settings=settings) if settings == self._session.settings:
                self._metrics = Metrics(self._preset.slo)
                self._metrics.feed([Ready(event.time, self._info)])
            case _:
                pass
        if self._metrics:
            self._metrics.feed([event])


def _num_done(report: Report) -> int:
    """Requests that have ended, and whose answers have been delivered."""
    service = report.service
    unserved = service.num_aborted + service.num_rejected + service.num_failed
    return service.num_completed + unserved
