"""Run a preset without a screen: the same engine, the same log, the same metrics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from engine.assembly import build_core
from engine.clock import VirtualClock, WallClock
from engine.core import EngineCore
from engine.events import EngineInfo, Event, Failed, Finished
from engine.log import EventLog
from engine.metrics import Metrics, Report
from engine.prompts import PromptMaker
from engine.request import FinishReason, Request, SamplingParams
from engine.run import run
from engine.runners.parts import ModelSpec
from engine.settings import EngineSettings
from engine.workload import Listed
from tuiapp.presets import Preset

UNSERVED = (FinishReason.REJECTED, FinishReason.ERROR)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run of a preset.

    Attributes:
        variant: its name; empty for the preset's own engine.
        complaints: what was rejected or failed, in the engine's words, each once.
        is_interrupted: the user broke it off; the report tells of what was done.
    """

    variant: str
    settings: EngineSettings
    info: EngineInfo
    report: Report
    complaints: tuple[str, ...] = ()
    is_interrupted: bool = False

    @property
    def is_failed(self) -> bool:
        """Whether the engine failed a request, or served none of those that came."""
        service = self.report.service
        is_in_vain = bool(service.num_requests) and not service.num_completed
        return bool(service.num_failed) or (is_in_vain and not self.is_interrupted)


def run_preset(
    preset: Preset,
    variant: str,
    settings: EngineSettings,
    spec: ModelSpec,
    seed: int | None = None,
    pace: float = 1.0,
    on_progress: Callable[[int, int], object] = lambda done, total: None,
) -> Outcome:
    """Run all requests of a preset under some settings, until the last has ended.

    A simulation runs on a clock that skips what nothing happens in; a real device in real time,
    after a warm-up that does not count.

    Args:
        variant: what to call the run.
        seed: draw other requests than the preset does.
        pace: all arrivals are multiplied by it.
        on_progress: told how many requests have ended, of how many.

    Raises:
        ConfigError: there is no such model or device, or no memory for it.
    """
    is_simulated = spec.device.startswith("sim")
    core = build_core(spec, settings, VirtualClock() if is_simulated else WallClock(), EventLog())
    drawn = preset.requests(PromptMaker(core.tokenizer), seed)
    requests = [replace(request, arrival=request.arrival * pace) for request in drawn]
    reader = Reader(core.log, Metrics(preset.slo), lambda done: on_progress(done, len(requests)))
    reader.read()
    if not is_simulated:
        warm_up(core, requests[0])
        reader.skip()
    is_interrupted = False
    try:
        run(core, Listed(requests), reader.read)
    except KeyboardInterrupt:
        is_interrupted = True
        reader.read()
    return Outcome(
        variant=variant,
        settings=core.settings,
        info=core.info,
        report=reader.metrics.report(),
        complaints=tuple(reader.complaints),
        is_interrupted=is_interrupted,
    )


def warm_up(core: EngineCore, like: Request) -> None:
    """Run one short request, since the first passes on a device are slower than all later ones."""
    request = Request("warm-up", like.prompt_token_ids[:64], SamplingParams(max_tokens=4))
    run(core, Listed([replace(request, arrival=0.0)]))


class Reader:
    """Reads an engine's log as it grows.

    Args:
        on_progress: told how many requests have ended, when it changes.
    """

    def __init__(
        self, log: EventLog, metrics: Metrics, on_progress: Callable[[int], object]
    ) -> None:
        self.metrics = metrics
        self.complaints: dict[str, None] = {}
        self._log = log
        self._position = 0
        self._num_finished = 0
        self._on_progress = on_progress

    def read(self) -> None:
        """Take in what is new."""
        events, self._position = self._log.since(self._position)
        self.metrics.feed(events)
        self._note(events)

    def skip(self) -> None:
        """Leave out what is new."""
        self._position = len(self._log)

    def _note(self, events: list[Event]) -> None:
        before = self._num_finished
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
        if self._num_finished != before:
            self._on_progress(self._num_finished)
