"""`batchscope rerun`: the arrivals of a recording again, under other settings, beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from engine.config import ConfigError
from engine.metrics import Slo
from engine.recording import Recording
from engine.request import Request
from engine.runners.parts import ModelSpec
from engine.settings import EngineSettings
from tuiapp.commands.compare import Form, print_comparison
from tuiapp.overrides import NONE, Overrides
from tuiapp.running.engines import Engines
from tuiapp.running.gates import Finding, examine
from tuiapp.running.headless import Sink, run_requests
from tuiapp.running.making import make_runs
from tuiapp.running.outcome import Outcome
from tuiapp.running.outputs import OutputFiles, Outputs
from tuiapp.running.recorded import RECORDED, RecordedRun, read_run, recorded_slo
from tuiapp.running.runs import exit_code, read_gates
from tuiapp.running.study import Study

RERUN = "rerun"
TOLD = ("model", "device", "dtype", "load_format")  # what a recording says of its `ModelSpec`


@dataclass(frozen=True, slots=True)
class RerunRequest:
    """What to run again.

    Attributes:
        spec: fields of `ModelSpec` that the user named; the recording's own stand for the others.
        overrides: win over the settings of the recording.
        fail_if, slo: as of a run.
    """

    path: Path
    spec: Mapping[str, Any] = field(default_factory=dict)
    overrides: Overrides = NONE
    fail_if: tuple[str, ...] = ()
    slo: str | None = None
    outputs: Outputs = field(default_factory=Outputs)


def rerun_and_report(request: RerunRequest, form: Form) -> int:
    """Run the requests again, and compare.

    Returns:
        The exit code.

    Raises:
        ConfigError: the recording, a setting, a model, a device or a file that cannot be.
    """
    recording = Recording(request.path)
    if request.outputs.record and request.outputs.record.absolute() == request.path.absolute():
        raise ConfigError("a recording cannot replace the one it is made from", place="--record")
    settings = request.overrides.apply(recording.settings)
    spec = _spec(recording, request.spec)
    own = recorded_slo(recording)
    slo, _ = read_gates((), request.slo, own, ())
    with OutputFiles(request.outputs, num_runs=1) as files:
        with files.follow(RECORDED) as sinks:
            before = read_run(recording, slo, sinks)
        if not before.requests:
            raise ConfigError("no request arrived in it", place=str(request.path))
        _, conditions = read_gates(request.fail_if, request.slo, own, before.labels)
        make = partial(_run, before, spec, settings, slo)
        outcomes = make_runs({RERUN: make}, files, _about(recording, spec)).outcomes
        if not outcomes:
            return exit_code(None)
        findings = examine(conditions, outcomes)
        study = _study(request.path, before, [before.outcome, *outcomes], findings)
        files.finish(study)
    print_comparison(study, form)
    return exit_code(replace(study, outcomes=tuple(outcomes)))


def _spec(recording: Recording, named: Mapping[str, Any]) -> ModelSpec:
    """The model and the device of the recording, but for what the user named."""
    told = {key: recording.header.about.get(key) for key in TOLD}
    known = {key: value for key, value in told.items() if isinstance(value, str)}
    return ModelSpec(**{**known, **named})


def _about(recording: Recording, spec: ModelSpec) -> dict[str, Any]:
    told = {each.name: getattr(spec, each.name) for each in fields(spec) if each.name in TOLD}
    return {**recording.header.about, **told, "rerun_of": recording.path.name}


def _run(
    before: RecordedRun,
    spec: ModelSpec,
    settings: EngineSettings,
    slo: Slo,
    sinks: Sequence[Sink],
    advance: Callable[[int, int], None],
) -> Outcome:
    core, requests = Engines(spec).build(settings), before.requests
    if core.info.is_simulated and not before.outcome.info.is_simulated:
        vocab_size, lengths = core.tokenizer.vocab_size, before.output_lengths
        requests = tuple(_by_length(each, vocab_size, lengths.get(each.id)) for each in requests)
    return run_requests(core, requests, RERUN, slo, advance, sinks)


def _by_length(request: Request, vocab_size: int, num_output_tokens: int | None) -> Request:
    """The same lengths and common prefixes in a vocabulary that knows none of the words.

    Args:
        num_output_tokens: of an answer that came to its end, which no made-up token ends.
    """
    token_ids = tuple(token_id % vocab_size for token_id in request.prompt_token_ids)
    sampling = replace(
        request.sampling,
        max_tokens=num_output_tokens or request.sampling.max_tokens,
        min_tokens=0,
        stop=(),
        stop_token_ids=frozenset(),
    )
    return replace(request, prompt_token_ids=token_ids, sampling=sampling)


def _study(
    path: Path, before: RecordedRun, outcomes: Sequence[Outcome], findings: Sequence[Finding]
) -> Study:
    return Study(
        name=path.name,
        title=f"{before.title}, run again",
        num_requests=len(before.requests),
        labels=before.labels,
        outcomes=tuple(outcomes),
        findings=tuple(findings),
    )
