"""The command `config`."""

from __future__ import annotations

from typing import Annotated

import typer

from tuiapp.complaining import complaining


def config_command(
    init: Annotated[
        bool, typer.Option("--init", help="Write a commented file to begin with.")
    ] = False,
) -> None:
    """Say where the config file is and what is in force: looks, keys, what to begin with."""
    with complaining():
        from tuiapp.preferences_command import print_preferences, write_template

        code = write_template() if init else print_preferences()
    raise typer.Exit(code)
