"""`batchscope compare`: the engines of a preset side by side, with ratios to the first."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

import typer
from rich.console import Console

from engine.assembly import follow_leader
from engine.config import ConfigError
from tuiapp.lanes.mishaps import tell_mishap
from tuiapp.lanes.verdict import decide
from tuiapp.reports.as_json import dump, study_to_json
from tuiapp.reports.as_table import print_report
from tuiapp.reports.as_text import to_csv, to_markdown
from tuiapp.running.runs import DONE, RunRequest, exit_code, make_study, plan_comparison
from tuiapp.running.study import Study


class Form(Enum):
    """How a comparison is printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


def choose_form(*, as_json: bool, as_csv: bool, as_markdown: bool) -> Form:
    """The form that flags ask for, the table if none does.

    Raises:
        ConfigError: they ask for more than one.
    """
    wanted = {Form.JSON: as_json, Form.CSV: as_csv, Form.MARKDOWN: as_markdown}
    chosen = [form for form, is_wanted in wanted.items() if is_wanted]
    if len(chosen) > 1:
        flags = " and ".join(f"--{form.value}" for form in chosen)
        raise ConfigError(f"{flags} do not go together: one report is printed")
    return chosen[0] if chosen else Form.TABLE


def compare_and_report(request: RunRequest, form: Form) -> int:
    """Make the runs; the comparison goes to stdout, progress and complaints to stderr.

    Returns:
        The exit code.

    Raises:
        ConfigError: a variant, a setting, a model or a device that cannot be.
    """
    if follow_leader(request.spec):
        return DONE
    study = make_study(_settle_repeats(request), plan_comparison(request))
    if study:
        study = replace(study, judgement=judge_engines(study))
        print_comparison(study, form)
    return exit_code(study)


def judge_engines(study: Study) -> str:
    """Who wins, by the rule of the screen that compares; empty where there is only one engine."""
    engines = study.outcomes
    if len(engines) < 2:
        return ""
    repeat = "--repeats 3 repeats them"
    return str(
        tell_mishap(engines, can_run=False) or decide(engines, study.verdicts, repeat=repeat)
    )


def _settle_repeats(request: RunRequest) -> RunRequest:
    """Once where nothing would change."""
    if request.repeats == 1 or not request.spec.device.startswith("sim"):
        return request
    typer.echo("batchscope: a simulation repeats itself exactly: one run of each", err=True)
    return replace(request, repeats=1)


def print_comparison(study: Study, form: Form) -> None:
    """Print a study to stdout."""
    match form:
        case Form.TABLE:
            print_report(Console(), study, with_ratios=True)
        case Form.JSON:
            typer.echo(dump(study_to_json(study)))
        case Form.CSV:
            typer.echo(to_csv(study), nl=False)
        case Form.MARKDOWN:
            typer.echo(to_markdown(study), nl=False)
