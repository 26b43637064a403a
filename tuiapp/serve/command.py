"""`batchscope serve`: opens the port, says where it is, and serves until it is interrupted."""

from __future__ import annotations

import asyncio
import errno
import shlex
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import typer
from aiohttp import web

from engine.config import ConfigError
from tuiapp.serve.server import PlaygroundServer, is_loopback

REMOTE = (
    "batchscope: whoever reaches this port drives the engine on this machine and can save files "
    "in this folder; there is no password and no encryption"
)


@dataclass(frozen=True, slots=True)
class ServeRequest:
    """How to serve.

    Attributes:
        port: 0 takes one that is free.
        num_seats: visitors at a time, each with an engine of its own.
        options: of the playground, as on the command line.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    num_seats: int = 2
    allow_remote: bool = False
    options: Sequence[str] = ()


def serve(request: ServeRequest) -> None:
    """Serve until it is interrupted.

    Raises:
        ConfigError: the address is none to serve on, or others could reach it unasked.
    """
    is_local = is_loopback(request.host)
    if not (is_local or request.allow_remote):
        raise ConfigError(
            f"{request.host} can be reached from other machines, and whoever does drives the "
            "engine on this one; say --allow-remote as well if that is what you want",
            place="--host",
        )
    if not is_local:
        typer.echo(REMOTE, err=True)
    command = shlex.join([sys.executable, "-m", "tuiapp", *request.options])
    server = PlaygroundServer(command, num_seats=request.num_seats, is_local=is_local)
    asyncio.run(_serve(server, request))


async def _serve(server: PlaygroundServer, request: ServeRequest) -> None:
    """Open the port, and wait for a signal.

    Raises:
        ConfigError: the port cannot be opened.
    """
    runner = web.AppRunner(await server.make_app())
    await runner.setup()
    stopped = asyncio.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, stopped.set)
    try:
        await _open(runner, request)
        host, port = runner.addresses[0][:2]
        shown = f"[{host}]" if ":" in host else host
        typer.echo(
            f"batchscope: on http://{shown}:{port}/ for {request.num_seats} at a time; ^C ends"
        )
        await stopped.wait()
    finally:
        await runner.cleanup()


async def _open(runner: web.AppRunner, request: ServeRequest) -> None:
    """Listen.

    Raises:
        ConfigError: it cannot.
    """
    try:
        await web.TCPSite(runner, request.host, request.port).start()
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            problem = f"{request.port} is in use; name another, or 0 for any that is free"
            raise ConfigError(problem, place="--port") from None
        reason = error.strerror or str(error)
        raise ConfigError(f"{request.host} cannot be served on: {reason}", place="--host") from None
