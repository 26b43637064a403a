"""`batchscope bench`: measure, report, write."""

from __future__ import annotations

import typer
from rich.console import Console

from tuiapp.bench.measure import measure
from tuiapp.bench.report import bench_table, bench_to_json
from tuiapp.bench.request import BenchRequest
from tuiapp.reports.as_json import dump
from tuiapp.text import one_line
from tuiapp.writing import check_writable, write_file


def bench(request: BenchRequest, *, as_json: bool = False) -> None:
    """Measure; the report goes to stdout, what is measured now to stderr.

    Raises:
        ConfigError: there is no such model or device, a contender fails, or the file cannot be
            written.
        RunnerError: a pass failed.
    """
    if request.output:
        check_writable(request.output)
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
    if request.output:
        write_file(request.output, dump(bench_to_json(report)) + "\n")
