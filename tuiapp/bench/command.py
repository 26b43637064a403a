"""`batchscope bench`: measure, report, write."""

from __future__ import annotations

import typer
from rich.console import Console

from engine.config import ConfigError
from tuiapp.bench.measure import BenchReport, measure
from tuiapp.bench.report import bench_table, bench_to_json
from tuiapp.bench.request import BenchRequest
from tuiapp.report_json import dump
from tuiapp.text import one_line


def bench(request: BenchRequest, *, as_json: bool = False) -> None:
    """Measure; the report goes to stdout, what is measured now to stderr.

    Raises:
        ConfigError: there is no such model or device, a contender fails, or the file cannot be
            written.
        RunnerError: a pass failed.
    """
    console = Console(stderr=True)
    with console.status("loading") as status:

        def say(line: str) -> None:
            status.update(one_line(line))
            if not console.is_terminal:
                console.print(f"measuring: {one_line(line)}", markup=False, highlight=False)

        report = measure(request, say)
    if as_json:
        typer.echo(dump(bench_to_json(report)))
    else:
        Console().print(bench_table(report))
    _write(request, report)


def _write(request: BenchRequest, report: BenchReport) -> None:
    """Write the JSON where a file was named.

    Raises:
        ConfigError: it cannot be written.
    """
    if request.output is None:
        return
    try:
        request.output.write_text(dump(bench_to_json(report)) + "\n", "utf-8")
    except OSError as error:
        problem = f"cannot be written: {error.strerror}"
        raise ConfigError(problem, place=str(request.output)) from error
