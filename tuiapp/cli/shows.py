"""The commands that show the playground to others: `demo` and `serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from engine.config import ConfigError
from tuiapp.cli.complaining import complaining
from tuiapp.cli.terminal import is_terminal


def demo_command(
    name: Annotated[str, typer.Argument(metavar="NAME|FILE.toml", help="Which.")] = "tour",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="x.cast, x.svg or x.gif that plays it."
        ),
    ] = None,
    size: Annotated[str, typer.Option(metavar="WIDTHxHEIGHT", help="Of the film.")] = "120x36",
    fps: Annotated[
        float, typer.Option(metavar="N", min=0.2, max=30, help="Pictures a second.")
    ] = 5.0,
    model: Annotated[str, typer.Option(metavar="NAME", help="As for the screen.")] = "tiny",
    device: Annotated[
        str | None, typer.Option(metavar="NAME", help="cpu, sim:linear, …; else the demo's own.")
    ] = None,
    lists: Annotated[bool, typer.Option("--list", help="List the demos.")] = False,
) -> None:
    """Play a guided tour here, or write a file that plays it.

    A film has a clock of its own: the same command gives the same bytes, and all times in it are
    simulated.
    """
    with complaining():
        from tuiapp.demo.command import DemoRequest, list_demos, play_or_film

        if lists:
            list_demos()
            return
        if output is None and not is_terminal():
            raise ConfigError("a demo plays in a terminal; -o FILE writes one", place="demo")
        code = play_or_film(DemoRequest(name, output, size, fps, model, device))
    raise typer.Exit(code)


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
    r"""Show the playground in a browser; what follows `--` are its own options.

    Needs the extra: pip install -e ".\[serve]". Every visitor gets an engine of their own.
    """
    with complaining():
        try:
            from tuiapp.serve.command import ServeRequest, serve
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("tuiapp"):
                raise
            raise ConfigError(
                f'{error.name} is not installed; pip install -e ".[serve]" brings it'
            ) from None
        serve(ServeRequest(host, port, seats, allow_remote, tuple(context.args)))
