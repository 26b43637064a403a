"""`batchscope runs`: the runs that were kept, for the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from engine.config import ConfigError, suggest
from tuiapp.library.entry import Entry
from tuiapp.library.library import SUFFIX, Library, runs_folder
from tuiapp.reports.as_json import dump
from tuiapp.reports.as_table import format_number
from tuiapp.text import one_line

TITLES = ("run", "on", "requests", "TTFT p50, ms", "tokens/s", "MiB")
NUM_TEXTS = 2  # columns to the left of the numbers


def list_runs(*, as_json: bool) -> None:
    """Print all runs, the newest first, and what is wrong with those that cannot be opened."""
    entries = Library(runs_folder()).entries()
    if as_json:
        typer.echo(dump({"folder": str(runs_folder()), "runs": [_to_json(e) for e in entries]}))
        return
    if not entries:
        typer.echo(f"No run was kept yet in {runs_folder()}: play a preset to its end.")
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for place, title in enumerate(TITLES):
        justify: JustifyMethod = "left" if place < NUM_TEXTS else "right"
        table.add_column(title, justify=justify, no_wrap=not place)
    for entry in entries:
        if not entry.problem:
            table.add_row(*(Text(cell) for cell in _cells(entry)))
    Console().print(table)
    for entry in entries:
        if entry.problem:
            typer.echo(one_line(f"{entry.path}: {entry.problem}"), err=True)


def delete_run(name: str) -> None:
    """Delete a run and its report.

    Raises:
        ConfigError: there is none of that name, or it cannot be deleted.
    """
    path = find_run(name)
    Library(runs_folder()).delete(path)
    typer.echo(f"deleted {path}")


def find_run(name: str) -> Path:
    """The recording of a kept run.

    Raises:
        ConfigError: there is none of that name; the message names the nearest.
    """
    library = Library(runs_folder())
    if (path := library.find(name)) is None:
        known = [entry.name for entry in library.entries()]
        hint = suggest(name, known) if known else "none was kept yet"
        raise ConfigError(f"no run is called {name!r}; {hint}")
    return path


def find_recording(path: Path) -> Path:
    """A recording by its file or, where there is no such file, by the name of a kept run.

    Raises:
        ConfigError: it is the name of no run.
    """
    is_file = path.exists() or path.suffix == SUFFIX or len(path.parts) > 1
    return path if is_file else find_run(str(path))


def _cells(entry: Entry) -> tuple[str, ...]:
    where = "simulated" if entry.is_simulated else entry.device
    return (
        entry.name,
        one_line(f"{entry.model} {where}"),
        format_number(entry.value("num_requests"), "count"),
        format_number(entry.value("ttft_p50_ms"), "ms"),
        format_number(entry.value("out_tps"), "rate"),
        f"{entry.size / 2**20:,.1f}",
    )


def _to_json(entry: Entry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "path": str(entry.path),
        "when": entry.when.isoformat() if entry.when else None,
        "preset": entry.preset,
        "variant": entry.variant,
        "model": entry.model,
        "device": entry.device,
        "simulated": entry.is_simulated,
        "doubts": entry.about.get("doubts", []),
        "bytes": entry.size,
        "problem": entry.problem,
        "overall": entry.run.get("overall", {}),
    }
