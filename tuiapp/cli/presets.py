"""The commands of presets: `presets` and those below it, `import`, and `locate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tuiapp.cli.complaining import MISUSED, complaining
from tuiapp.cli.flags import AsJson, PresetName

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


def list_command(context: typer.Context, as_json: AsJson = False) -> None:
    """List the presets: those that come with batchscope, and your own."""
    if not context.invoked_subcommand:
        from tuiapp.commands.presets import list_and_print

        raise typer.Exit(list_and_print(as_json=as_json))


def show_command(preset: PresetName, as_json: AsJson = False) -> None:
    """Show one preset: its story, its traffic, and what it claims."""
    with complaining():
        from tuiapp.commands.presets import show
        from tuiapp.presets import find_preset

        show(find_preset(preset), as_json=as_json)


def check_command(
    names: Annotated[list[str], typer.Argument(metavar="NAME|FILE", help="Which.")],
) -> None:
    """Check presets: names, types, values, and whether the parts go together."""
    from tuiapp.commands.presets import check

    raise typer.Exit(0 if check(names) else MISUSED)


def locate_command() -> None:
    """Say where things lie: the program, the shipped model, presets, and yours."""
    from tuiapp.commands.presets import locate

    locate()
