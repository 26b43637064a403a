"""`batchscope import`: look at a recorded workload, and write a preset that plays it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

from engine.config import ConfigError
from engine.traces import Survey, TraceFile, survey
from tuiapp.commands.presets import say_what_next
from tuiapp.imported import write_preset
from tuiapp.presets import read_preset
from tuiapp.presets.files import NAME
from tuiapp.text import one_line
from tuiapp.writing import check_writable, write_file


def import_trace(path: Path, format_name: str, output: Path | None) -> None:
    """Read a trace once, print what became of its rows, and write a preset of it.

    Args:
        format_name: one of `engine.traces.FORMATS`, or `auto`.
        output: the preset's file; None only looks at the trace.

    Raises:
        ConfigError: the file is no trace, holds nothing to play, or the preset is there already or
            cannot be written.
    """
    if output is not None:
        _check_output(output)
    trace = TraceFile(path, format_name)
    found = _survey(trace)
    _print([f"{path}: a trace like {trace.format_name}", *found.tally.lines()])
    if not found.tally.num_kept:
        raise ConfigError("nothing of it can be played", place=str(path))
    if output is None:
        return
    write_file(output, write_preset(trace, found, output.stem))
    num_played = len(read_preset(output).drafts)
    _print([f"{output}: plays {num_played:,} of them; its [[trace]] says which"])
    say_what_next(output)


def _check_output(output: Path) -> None:
    if output.suffix != ".toml":
        raise ConfigError(f"must end in .toml, got {output.name!r}", place="--output")
    if not NAME.fullmatch(output.stem):
        raise ConfigError(
            f"must be of letters, digits, - and _, got {output.stem!r}", place="--output"
        )
    if output.exists():
        raise ConfigError("is there already; name another file", place=str(output))
    check_writable(output)


def _survey(trace: TraceFile) -> Survey:
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TimeElapsedColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task(one_line(trace.path.name), total=trace.num_bytes)
        return survey(trace, lambda done: progress.update(task, completed=done))


def _print(lines: Sequence[str]) -> None:
    for line in lines:
        typer.echo(one_line(line))
