"""The command `config`."""

from __future__ import annotations

from typing import Annotated

import typer

from tuiapp.cli.complaining import complaining


def config_command(
    init: Annotated[
        bool, typer.Option("--init", help="Write a commented file to begin with.")
    ] = False,
) -> None:
    """Say where the config file is and what is in force: looks, keys, what to begin with."""
    with complaining():
        from tuiapp.commands.preferences import print_preferences, write_template

        code = write_template() if init else print_preferences()
    raise typer.Exit(code)
