"""`measure`: from the events of a run to all that its report shows."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from engine.events import Arrived, Checkpoint, Configured, EngineInfo, Event, Keyframe, Ready
from engine.metrics import Metrics
from engine.settings import EngineSettings
from tuiapp.explain.fold import LifeFold
from tuiapp.explain.gaps import Gap
from tuiapp.export.sketch import Sketch
from tuiapp.library.eras import Era, eras_of, tell_eras
from tuiapp.library.served import Requests, Served
from tuiapp.library.subject import Subject
from tuiapp.running.headless import Tally
from tuiapp.running.outcome import Outcome
from tuiapp.running.study import Study
from tuiapp.running.verdicts import Measured, judge_by


@dataclass(frozen=True, slots=True)
class WorstGap:
    """The longest time between two deliveries of a request, and what was in it."""

    request_id: str
    gap: Gap


@dataclass(frozen=True, slots=True)
class Findings:
    """A report, ready to be drawn or exported.

    Attributes:
        study: the run as every printed report takes it.
        sketch: its timeline and its latencies.
        tpots: time per output token of every answer, in seconds.
        slowest: the longest first.
        doubts: why the claims of the preset cannot be held against it, if they cannot.
        eras: under which settings it ran, and since when.
        judged_with: variants that the claims compare it with, and of which an earlier run stood in.
    """

    subject: Subject
    study: Study
    sketch: Sketch
    tpots: array[float]
    slowest: tuple[Served, ...]
    worst: WorstGap | None
    eras: tuple[Era, ...] = ()
    doubts: tuple[str, ...] = ()
    judged_with: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        return self.study.outcomes[0]

    def about(self) -> dict[str, Any]:
        """What a recording says of it; the keys that `batchscope run --record` writes, and more."""
        subject, study = self.subject, self.study
        slo = {key: limit for key, limit in asdict(subject.slo).items() if limit is not None}
        return {
            "preset": study.name,
            "title": study.title,
            "variant": subject.variant,
            "labels": study.labels,
            "seed": study.seed,
            "pace": study.pace,
            "slo": slo,
            **self._tell_spec(),
            "watched": subject.is_watched,
            "doubts": list(self.doubts),
        }

    def _tell_spec(self) -> dict[str, str]:
        """What `batchscope rerun` builds the engine from; else what the engine calls itself."""
        spec, info = self.subject.spec, self.outcome.info
        if spec is None:
            return {"model": info.model, "device": info.device}
        told = {"model": spec.model, "device": spec.device, "dtype": spec.dtype}
        return {**told, "load_format": spec.load_format}

    def beside(self, others: Mapping[str, Measured]) -> Findings:
        """The same, with the claims judged beside earlier runs of the other engines.

        Args:
            others: by variant.
        """
        preset = self.subject.preset
        if preset is None or self.doubts:
            return self
        sides = {side for claim in preset.claims for side in (claim.left, claim.right)}
        others = {name: run for name, run in others.items() if name in sides}
        runs = {**others, self.subject.variant: self.outcome.report}
        study = replace(self.study, verdicts=judge_by(preset.claims, runs))
        return replace(self, study=study, judged_with=tuple(others))


def measure(subject: Subject, events: Sequence[Event]) -> Findings | None:
    """Sum up a run.

    Args:
        events: they begin with an engine and its settings.

    Returns:
        None where no request arrived.
    """
    began = _begin(events)
    ids = [event.request.id for event in events if isinstance(event, Arrived)]
    if began is None or not ids:
        return None
    info, settings = began
    tally, sketch, requests = Tally(Metrics(subject.slo)), Sketch(), Requests()
    told = [event for event in events if not isinstance(event, Checkpoint)]
    for sink in (tally, sketch, requests):
        sink.write(told)
    eras = eras_of(events)
    is_own = subject.preset is not None and len(eras) - 1 <= subject.preset.num_changes
    outcome = Outcome(
        course="" if is_own else tell_eras(eras),
        variant=subject.variant,
        settings=settings,
        info=info,
        report=tally.metrics.report(),
        complaints=tuple(tally.complaints),
        is_interrupted=not subject.is_over,
    )
    doubts = tuple(_doubts(subject, events, ids))
    runs = {} if doubts else {subject.variant: outcome.report}
    return Findings(
        subject=subject,
        study=_study(subject, outcome, len(ids), runs),
        sketch=sketch,
        tpots=requests.tpots,
        slowest=requests.slowest(),
        worst=_explain(requests.worst, told),
        eras=eras,
        doubts=doubts,
    )


def _begin(events: Sequence[Event]) -> tuple[EngineInfo, EngineSettings] | None:
    """What the first events say: what runs, and how it is set."""
    info = None
    for event in events:
        match event:
            case Ready():
                info = event.info
            case Configured(settings=settings) | Keyframe(settings=settings):
                return (info, settings) if info else None
            case _:
                pass
    return None


def _doubts(subject: Subject, events: Sequence[Event], ids: Sequence[str]) -> list[str]:
    """What makes the run another one than the preset describes."""
    preset = subject.preset
    if preset is None:
        return []
    num_changes = sum(isinstance(event, Configured) for event in events) - 1
    drafts = {draft.id for draft in preset.drafts}
    num_own = sum(request_id.partition(".")[0] in drafts for request_id in ids)
    tests = {
        "it is not over": not subject.is_over,
        "its beginning is no longer in memory": not subject.is_whole,
        "the settings were changed while it ran": num_changes > preset.num_changes,
        f"the requests arrived ×{subject.speed:g} as fast": subject.speed != 1.0,
        f"{len(ids) - num_own} other requests came in between": num_own < len(ids),
    }
    return [doubt for doubt, applies in tests.items() if applies]


def _study(
    subject: Subject, outcome: Outcome, num_requests: int, runs: Mapping[str, Measured]
) -> Study:
    """The run as other reports take it, with what became of the claims of its preset."""
    preset = subject.preset
    return Study(
        name=preset.name if preset else subject.workload or "session",
        title=subject.title,
        num_requests=num_requests,
        labels=preset.labels if preset else (),
        outcomes=(outcome,),
        seed=subject.seed,
        pace=1 / subject.speed,
        verdicts=judge_by(preset.claims, runs) if preset else (),
        needs=tuple(need.value.replace("_", " ") for need in preset.about.needs) if preset else (),
    )


def _explain(request_id: str | None, events: Sequence[Event]) -> WorstGap | None:
    """Read the life of the request with the longest gap once more, for its culprit."""
    if request_id is None:
        return None
    fold: LifeFold | None = None
    for event in events:
        if fold:
            fold.feed(event)
        elif isinstance(event, Arrived) and event.request.id == request_id:
            fold = LifeFold(event.request)
    gap = fold.life(events[-1].time).worst if fold else None
    return WorstGap(request_id, gap) if gap else None
