"""Make the runs of a preset, one engine after the other, and study them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from engine.metrics import Slo
from engine.runners.parts import ModelSpec
from engine.settings import BatcherName, EngineSettings
from tuiapp.overrides import Overrides
from tuiapp.presets import Preset
from tuiapp.running.engines import Engines
from tuiapp.running.gates import Condition, examine, read_condition, read_slo
from tuiapp.running.headless import Sink, run_preset
from tuiapp.running.making import make_runs
from tuiapp.running.outcome import Outcome
from tuiapp.running.outputs import OutputFiles, Outputs
from tuiapp.running.profiling import Profiler, Profiling, Trace
from tuiapp.running.study import Study, study_preset
from tuiapp.running.verdicts import judge
from tuiapp.text import one_line

DONE, FAILED, MISSED, INTERRUPTED = 0, 1, 3, 130


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What to run.

    Attributes:
        overrides: win over the settings of the preset.
        variants: only these; empty for all, or for the preset's own engine where a batcher is
            named.
        seed: draw other requests than the preset does.
        pace: all arrivals are multiplied by it.
        fail_if: conditions that a run must not meet.
        slo: objectives in place of the preset's, and the attainment to reach; None asks nothing.
        repeats: how often each engine runs; of its numbers the middle ones count.
        profiling: find where the host's time goes; None does not.
    """

    preset: Preset
    spec: ModelSpec
    overrides: Overrides
    variants: tuple[str, ...] = ()
    seed: int | None = None
    pace: float = 1.0
    fail_if: tuple[str, ...] = ()
    slo: str | None = None
    outputs: Outputs = field(default_factory=Outputs)
    repeats: int = 1
    profiling: Profiling | None = None


def plan(request: RunRequest) -> dict[str, EngineSettings]:
    """The settings of each run by variant; the preset's own engine has no name.

    Raises:
        ConfigError: there is no such variant, or the settings do not go together.
    """
    preset = request.preset
    names = request.variants
    if not names and "batcher" not in request.overrides.values:
        names = tuple(variant.name for variant in preset.variants)
    chosen = {name: preset.settings(name) for name in names} or {"": preset.settings()}
    return _override(chosen, request)


def plan_comparison(request: RunRequest) -> dict[str, EngineSettings]:
    """The settings of each variant; a preset that compares nothing is run by every batcher.

    Raises:
        ConfigError: there is no such variant, or the settings do not go together.
    """
    if request.variants or request.preset.variants:
        names = request.variants or tuple(each.name for each in request.preset.variants)
        return _override({name: request.preset.settings(name) for name in names}, request)
    own = request.preset.settings()
    return _override({each.value: replace(own, batcher=each) for each in BatcherName}, request)


def make_study(request: RunRequest, runs: Mapping[str, EngineSettings]) -> Study | None:
    """Make the runs in order, until the user breaks off; progress and complaints go to stderr.

    Returns:
        None where the user broke off before there was anything to tell.

    Raises:
        ConfigError: a condition, an objective, a model, a device or a file that cannot be.
    """
    preset = request.preset
    slo, conditions = read_gates(request.fail_if, request.slo, preset.slo, preset.labels)
    _announce(preset.notices)
    engines = Engines(request.spec)
    makes = {
        (name or settings.batcher.value): partial(_run, request, name, settings, slo, engines)
        for name, settings in runs.items()
    }
    with OutputFiles(request.outputs, len(runs) * request.repeats) as files:
        made = make_runs(makes, files, _about(request, slo), request.repeats)
        if not made.outcomes:
            return None
        verdicts, findings = judge(preset.claims, made.outcomes), examine(conditions, made.outcomes)
        study = replace(
            study_preset(preset, made.outcomes, verdicts, findings, request.seed, request.pace),
            is_broken_off=made.is_broken_off,
        )
        files.finish(study)
    return study


def read_gates(
    fail_if: Sequence[str], slo: str | None, own: Slo, labels: Sequence[str]
) -> tuple[Slo, tuple[Condition, ...]]:
    """The objectives that count, and the conditions that fail a run.

    Raises:
        ConfigError: one cannot be read.
    """
    conditions = [read_condition(text, labels) for text in fail_if]
    if slo is None:
        return own, tuple(conditions)
    objectives, attainment = read_slo(slo, own)
    return objectives, (*conditions, attainment)


def _announce(notices: Sequence[str]) -> None:
    """Say what is not as the preset has it, before anything runs."""
    console = Console(stderr=True)
    for notice in notices:
        console.print(Text(one_line(notice), style="yellow"), soft_wrap=True)


def exit_code(study: Study | None) -> int:
    """What the command ends with; what was missed is said on stderr."""
    console = Console(stderr=True)
    if study is None or study.is_interrupted:
        told = "the report tells of what was done" if study else "there is nothing to report yet"
        console.print(Text(f"interrupted: {told}", style="yellow"), soft_wrap=True)
        return INTERRUPTED
    if any(outcome.is_failed for outcome in study.outcomes):
        return FAILED
    for finding in study.findings:
        console.print(Text(one_line(f"missed: {finding}"), style="red"), soft_wrap=True)
    return MISSED if study.findings else DONE


def _run(
    request: RunRequest,
    name: str,
    settings: EngineSettings,
    slo: Slo,
    engines: Engines,
    sinks: Sequence[Sink],
    advance: Callable[[int, int], None],
) -> Outcome:
    profiler = _make_profiler(request, name or settings.batcher.value)
    outcome = run_preset(
        request.preset,
        name,
        settings,
        request.spec,
        request.seed,
        request.pace,
        advance,
        slo=slo,
        sinks=[*sinks, profiler] if profiler else sinks,
        engines=engines,
    )
    return replace(outcome, profile=profiler.close()) if profiler else outcome


def _make_profiler(request: RunRequest, run: str) -> Profiler | None:
    """What follows the run, if that is wanted; torch has nothing to tell of a simulation.

    Raises:
        ConfigError: the folder for traces cannot be made.
    """
    if request.profiling is None:
        return None
    is_simulated = request.spec.device.startswith("sim")
    path = None if is_simulated else request.profiling.trace_path(request.preset.name, run)
    return Profiler(len(request.preset.drafts), path, _make_trace)


def _make_trace(path: Path) -> Trace:
    from engine.runners.torch_trace import TorchTrace

    return TorchTrace(path)


def _override(
    chosen: Mapping[str, EngineSettings], request: RunRequest
) -> dict[str, EngineSettings]:
    return {name: request.overrides.apply(settings) for name, settings in chosen.items()}


def _about(request: RunRequest, slo: Slo) -> dict[str, Any]:
    """What a recording says of the run: enough to make it again."""
    preset, spec = request.preset, request.spec
    return {
        "preset": preset.name,
        "title": preset.about.title,
        "labels": preset.labels,
        "seed": preset.about.seed if request.seed is None else request.seed,
        "pace": request.pace,
        "slo": {key: limit for key, limit in asdict(slo).items() if limit is not None},
        "model": spec.model,
        "device": spec.device,
        "dtype": spec.dtype,
        "load_format": spec.load_format,
    }
