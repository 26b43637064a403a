"""`batchscope run`: plan the runs, make them, report them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from engine.runners.parts import ModelSpec
from engine.settings import EngineSettings
from tuiapp.headless import Outcome, run_preset
from tuiapp.options import apply_overrides
from tuiapp.presets import Preset
from tuiapp.report_json import dump, run_to_json
from tuiapp.report_table import print_report
from tuiapp.text import one_line
from tuiapp.verdicts import judge

DONE, FAILED, INTERRUPTED = 0, 1, 130


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What to run.

    Attributes:
        overrides: fields of `EngineSettings` that win over the preset.
        variants: only these; empty for all, or for the preset's own engine where a batcher is
            named.
        seed: draw other requests than the preset does.
        pace: all arrivals are multiplied by it.
    """

    preset: Preset
    spec: ModelSpec
    overrides: Mapping[str, Any]
    variants: tuple[str, ...] = ()
    seed: int | None = None
    pace: float = 1.0
    as_json: bool = False


def run_and_report(request: RunRequest) -> int:
    """Make the runs; the report goes to stdout, progress and complaints to stderr.

    Returns:
        The exit code.

    Raises:
        ConfigError: a variant, a setting, a model or a device that cannot be.
    """
    outcomes = _run_all(request, plan(request))
    if not outcomes:
        return INTERRUPTED
    verdicts = judge(request.preset.claims, outcomes)
    preset = request.preset
    if request.as_json:
        seed = preset.about.seed if request.seed is None else request.seed
        typer.echo(dump(run_to_json(preset, seed, request.pace, outcomes, verdicts)))
    else:
        print_report(Console(), preset, outcomes, verdicts)
    if any(outcome.is_interrupted for outcome in outcomes):
        return INTERRUPTED
    return FAILED if any(outcome.is_failed for outcome in outcomes) else DONE


def plan(request: RunRequest) -> dict[str, EngineSettings]:
    """The settings of each run by variant; the preset's own engine has no name.

    Raises:
        ConfigError: there is no such variant, or the settings do not go together.
    """
    preset = request.preset
    names = request.variants
    if not names and "batcher" not in request.overrides:
        names = tuple(variant.name for variant in preset.variants)
    chosen = {name: preset.settings(name) for name in names} or {"": preset.settings()}
    return {name: apply_overrides(settings, request.overrides) for name, settings in chosen.items()}


def _run_all(request: RunRequest, runs: Mapping[str, EngineSettings]) -> list[Outcome]:
    """Make the runs in order, until the user breaks off."""
    console = Console(stderr=True)
    outcomes: list[Outcome] = []
    with _progress(console) as progress:
        for name, settings in runs.items():
            task = progress.add_task(one_line(name or settings.batcher.value), total=None)
            try:
                outcome = run_preset(
                    request.preset,
                    name,
                    settings,
                    request.spec,
                    request.seed,
                    request.pace,
                    partial(_advance, progress, task),
                )
            except KeyboardInterrupt:  # while a model was loading
                break
            outcomes.append(outcome)
            for complaint in outcome.complaints:
                words = f"{one_line(name or settings.batcher.value)}: {one_line(complaint)}"
                console.print(Text(words, style="yellow"), soft_wrap=True)
            if outcome.is_interrupted:
                break
    return outcomes


def _advance(progress: Progress, task: TaskID, done: int, total: int) -> None:
    progress.update(task, completed=done, total=total)


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
