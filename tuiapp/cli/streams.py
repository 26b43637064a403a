"""What becomes of output that the place it goes to does not take."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

FAILED = 1


@contextmanager
def bearing_streams() -> Iterator[None]:
    """Write `?` for a letter that the encoding lacks, and end in one line where a disk is full."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        try:
            yield
        finally:
            if sys.stdout:  # none where a shell has closed it
                sys.stdout.flush()
    except OSError as error:
        _drop_what_is_left()
        typer.echo(f"batchscope: {error}", err=True)
        sys.exit(FAILED)


def _drop_what_is_left() -> None:
    """Python writes the buffer once more when it ends; let it go where everything is taken."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
