"""`Outcome`: what came of the runs of one engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import median, median_low

from engine.events import EngineInfo
from engine.metrics import Report
from engine.metrics.report import Number
from engine.settings import EngineSettings
from tuiapp.running.passes import PassTimes
from tuiapp.running.profiling import ProfileOutcome


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run of a preset, or several of the same requests under the same settings.

    Attributes:
        variant: its name; empty for the preset's own engine.
        complaints: what was rejected, failed or could not be read, in the engine's words, each
            once.
        is_interrupted: the user broke it off; the report tells of what was done.
        profile: where its host time went, if that was asked for.
        course: what ran when, where somebody changed the settings in the middle.
        others: what the other runs came to.
        passes: how long those of the newest run took; none where nobody read them.
    """

    variant: str
    settings: EngineSettings
    info: EngineInfo
    report: Report
    complaints: tuple[str, ...] = ()
    is_interrupted: bool = False
    profile: ProfileOutcome | None = None
    course: str = ""
    others: tuple[Report, ...] = ()
    passes: PassTimes = field(default_factory=PassTimes, compare=False, repr=False)

    @property
    def name(self) -> str:
        """What to call it: the variant, or else the batcher; or each, where it was changed."""
        return self.course or self.variant or self.settings.batcher.value

    @property
    def num_runs(self) -> int:
        return 1 + len(self.others)

    @property
    def num_requests(self) -> int:
        return self.report.service.num_requests

    @property
    def is_simulated(self) -> bool:
        """Whether its times come from a cost model, so that it repeats itself exactly."""
        return self.info.is_simulated

    @property
    def is_over(self) -> bool:
        return not self.is_interrupted

    @property
    def problem(self) -> str:
        """Why it did not come to its end; empty otherwise."""
        return "broken off" if self.is_interrupted else ""

    @property
    def is_failed(self) -> bool:
        """Whether the engine failed a request, or served none of those that came."""
        return any(self._is_failed(report) for report in self._reports)

    def value(self, metric: str, label: str = "") -> Number:
        """A metric of all requests or of one label, the middle one of the runs; or None."""
        found = [
            number for each in self._reports if (number := each.value(metric, label)) is not None
        ]
        if not found:
            return None
        return median_low(found) if all(isinstance(each, int) for each in found) else median(found)

    def values(self, metric: str, label: str = "") -> list[float]:
        """A metric in every run that has it."""
        found = (report.value(metric, label) for report in self._reports)
        return [float(number) for number in found if number is not None]

    @property
    def _reports(self) -> tuple[Report, ...]:
        return (self.report, *self.others)

    def _is_failed(self, report: Report) -> bool:
        service = report.service
        is_in_vain = bool(service.num_requests) and not service.num_completed
        return bool(service.num_failed) or (is_in_vain and not self.is_interrupted)


def unite(runs: Sequence[Outcome]) -> Outcome:
    """Runs of one engine as one outcome, the first of them before the others.

    Args:
        runs: at least one, in order.
    """
    first, *others = runs
    complaints = dict.fromkeys(text for each in runs for text in each.complaints)
    reports = tuple(each.report for each in others)
    return replace(first, complaints=tuple(complaints), others=reports, passes=runs[-1].passes)
