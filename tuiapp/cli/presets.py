"""The commands that make presets: `import` and `presets new`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tuiapp.cli.complaining import complaining

Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="The preset's file.")
]


def import_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A trace.")],
    format_name: Annotated[
        str, typer.Option("--format", metavar="NAME", help="auto, azure, burstgpt, mooncake, ….")
    ] = "auto",
    output: Output = None,
) -> None:
    """Look at a recorded workload, and write a preset that plays it.

    Every row that is left out or changed is counted by its reason. Without --output it only looks.
    """
    with complaining():
        from tuiapp.commands.import_trace import import_trace

        import_trace(file, format_name, output)


def new_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call the preset.")],
    output: Output = None,
) -> None:
    """Write a commented preset to begin with, into the folder of your own ones."""
    with complaining():
        from tuiapp.commands.presets import make_new

        make_new(name, output)
