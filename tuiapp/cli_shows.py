"""The commands that show the playground to others: `serve`."""

from __future__ import annotations

from typing import Annotated

import typer

from tuiapp.complaining import complaining


def serve_command(
    context: typer.Context,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Of this machine.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="0 takes one that is free.")
    ] = 8000,
    seats: Annotated[
        int, typer.Option(metavar="N", min=1, max=64, help="Visitors at a time; each is a process.")
    ] = 2,
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Let other machines drive the engine on this.")
    ] = False,
) -> None:
    """Show the playground in a browser; what follows `--` are its own options.

    Needs textual-serve: pip install textual-serve. Every visitor gets an engine of their own.
    """
    with complaining():
        from engine.config import ConfigError

        try:
            from tuiapp.serve.command import ServeRequest, serve
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("tuiapp"):
                raise
            raise ConfigError(
                f"{error.name} is not installed; pip install textual-serve brings it"
            ) from None
        serve(ServeRequest(host, port, seats, allow_remote, tuple(context.args)))
