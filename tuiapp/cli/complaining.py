"""How every command ends that cannot do what was asked for, or is broken off."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from engine.config import ConfigError
from engine.plan import RunnerError

FAILED, MISUSED, INTERRUPTED = 1, 2, 130


@contextmanager
def complaining() -> Iterator[None]:
    """Report what cannot be in one line on stderr, and exit."""
    try:
        yield
    except ConfigError as error:
        typer.echo(f"batchscope: {error}", err=True)
        raise typer.Exit(MISUSED) from None
    except RunnerError as error:
        typer.echo(f"batchscope: a forward pass failed: {error}", err=True)
        raise typer.Exit(FAILED) from None
    except KeyboardInterrupt:
        typer.echo("batchscope: interrupted", err=True)
        raise typer.Exit(INTERRUPTED) from None
