"""Run requests without a screen: the same engine, the same log, the same metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Protocol

from engine.core import EngineCore
from engine.events import Event, Failed, Finished, Noted
from engine.log import EventLog
from engine.metrics import Metrics, Slo
from engine.pace import measure_pace
from engine.prompts import PromptMaker
from engine.request import FinishReason, Request, SamplingParams
from engine.run import run
from engine.runners.parts import ModelSpec
from engine.settings import EngineSettings
from engine.telemetry import Poller, make_telemetry
from engine.workload import Listed, Workload
from tuiapp.presets import Preset
from tuiapp.running.engines import Engines
from tuiapp.running.interrupt import Interrupts
from tuiapp.running.outcome import Outcome
from tuiapp.running.passes import PassTimes

UNSERVED = (FinishReason.REJECTED, FinishReason.ERROR)


class Sink(Protocol):
    """Is told every event of a run as it happens, a warm-up left out."""

    def write(self, events: Sequence[Event]) -> None: ...


def run_preset(
    preset: Preset,
    variant: str,
    settings: EngineSettings,
    spec: ModelSpec,
    seed: int | None = None,
    pace: float = 1.0,
    on_progress: Callable[[int, int], object] = lambda done, total: None,
    *,
    slo: Slo | None = None,
    sinks: Sequence[Sink] = (),
    engines: Engines | None = None,
) -> Outcome:
    """Run all requests of a preset under some settings, until the last has ended.

    A simulation runs on a clock that skips what nothing happens in; a real device in real time,
    after a warm-up that does not count.

    Args:
        variant: what to call the run.
        seed: draw other requests than the preset does.
        pace: all times are multiplied by it, beside the preset's own.
        on_progress: told after every step how many requests have ended, of how many.
        slo: what counts as good; the preset's own if None.
        engines: where to get the engine, if the model was loaded before.

    Raises:
        ConfigError: there is no such model or device, or no memory for it.
    """
    core = (engines or Engines(spec)).build(settings)
    requests = preset.requests(PromptMaker(core.tokenizer), seed)
    if preset.about.is_paced_in_steps:
        pace *= measure_pace(core)
    workload = preset.workload(requests, seed, pace=pace)
    slo = preset.slo if slo is None else slo
    return run_requests(core, requests, variant, slo, on_progress, sinks, workload=workload)


def run_requests(
    core: EngineCore,
    requests: Sequence[Request],
    variant: str,
    slo: Slo,
    on_progress: Callable[[int, int], object] = lambda done, total: None,
    sinks: Sequence[Sink] = (),
    *,
    workload: Workload | None = None,
) -> Outcome:
    """Run requests through a fresh engine, until the last has ended or the user breaks off.

    Args:
        workload: lets them arrive; None lets each do so at its own `arrival`.
    """
    tally = Tally(Metrics(slo), lambda done: on_progress(done, len(requests)))
    passes = PassTimes()
    reader = Reader(core.log, [tally, passes, *sinks])
    reader.read()
    if not core.info.is_simulated:
        warm_up(core, requests[0])
        reader.skip()
        core.record_keyframe()  # a recording begins here
    is_interrupted = False
    interrupts = Interrupts()
    try:
        with noting(core, reader, tally.complain) as note, interrupts.watching():
            run(core, workload or Listed(requests), partial(interrupts.guarded, note))
    except KeyboardInterrupt:
        is_interrupted = True
        reader.read()
    return Outcome(
        variant=variant,
        settings=core.settings,
        info=core.info,
        report=tally.metrics.report(),
        complaints=tuple(tally.complaints),
        is_interrupted=is_interrupted,
        passes=passes,
    )


def warm_up(core: EngineCore, like: Request) -> None:
    """Run one short request, since the first passes on a device are slower than all later ones."""
    request = Request("warm-up", like.prompt_token_ids[:64], SamplingParams(max_tokens=4))
    run(core, Listed([replace(request, arrival=0.0)]))


class Tally:
    """What is told of a run: its metrics, and its complaints, each once.

    Args:
        on_progress: told how many requests have ended, whenever something is read.
    """

    def __init__(
        self, metrics: Metrics, on_progress: Callable[[int], object] = lambda done: None
    ) -> None:
        self.metrics = metrics
        self.complaints: dict[str, None] = {}
        self._num_finished = 0
        self._on_progress = on_progress

    def complain(self, problem: str) -> None:
        """Take in what is wrong, though no event is about it."""
        self.complaints[problem] = None

    def write(self, events: Sequence[Event]) -> None:
        """Read on."""
        self.metrics.feed(events)
        for event in events:
            match event:
                case Finished(reason=reason, message=message):
                    self._num_finished += 1
                    if reason in UNSERVED:
                        self.complaints[message] = None
                case Failed(message=message):
                    self.complaints[message] = None
                case _:
                    pass
        self._on_progress(self._num_finished)


class Reader:
    """Reads an engine's log as it grows, and tells every sink."""

    def __init__(self, log: EventLog, sinks: Sequence[Sink]) -> None:
        self._log = log
        self._sinks = sinks
        self._position = 0

    def read(self) -> None:
        """Take in what is new."""
        events, self._position = self._log.since(self._position)
        for sink in self._sinks:
            sink.write(events)

    def skip(self) -> None:
        """Leave out what is new."""
        self._position = len(self._log)


@contextmanager
def noting(
    core: EngineCore, reader: Reader, complain: Callable[[str], None]
) -> Iterator[Callable[[], None]]:
    """What to do after every step: note what a real device says of itself, and read the log.

    Args:
        complain: told why a gauge could not be read, once for every kind of reason.
    """
    if core.info.is_simulated:
        yield reader.read
        return
    gauges = Poller(partial(make_telemetry, core.info.device_uuid))
    gauges.start()

    def note() -> None:
        if reading := gauges.take(core.clock.now()):
            core.log.append(reading)
        while problem := gauges.take_problem():
            core.log.append(Noted(core.clock.now(), problem))
            complain(problem)
        reader.read()

    try:
        yield note
    finally:
        gauges.stop()
    note()  # the run may have been over before the first reading was
