"""`batchscope run`: make the runs, report them."""

from __future__ import annotations

import typer
from rich.console import Console

from engine.assembly import follow_leader
from tuiapp.reports.as_json import dump, study_to_json
from tuiapp.reports.as_table import print_report
from tuiapp.running.runs import DONE, RunRequest, exit_code, make_study, plan


def run_and_report(request: RunRequest, *, as_json: bool = False) -> int:
    """Make the runs; the report goes to stdout, progress and complaints to stderr.

    Returns:
        The exit code.

    Raises:
        ConfigError: a variant, a setting, a model or a device that cannot be.
    """
    if follow_leader(request.spec):
        return DONE
    study = make_study(request, plan(request))
    if study and as_json:
        typer.echo(dump(study_to_json(study)))
    elif study:
        print_report(Console(), study)
    return exit_code(study)
