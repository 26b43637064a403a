"""What a user is told who wrote a command line that cannot be read: one line, as of all else."""

from __future__ import annotations

from typing import Any

import typer

from tuiapp.text import one_line

MISUSED = 2
UsageError: type[Exception] = typer.BadParameter.__mro__[1]  # of click, which typer hides


def tell_usage_error(error: Any) -> str:
    """What is wrong, and where it is said what would be right."""
    message = one_line(error.format_message()).rstrip(".")
    command = " ".join(["batchscope", *_names(error.ctx), "--help"])
    mark = "" if message.endswith("?") else ";"
    return f"batchscope: {message[0].lower()}{message[1:]}{mark} {command} says more"


def _names(context: Any) -> list[str]:
    """The commands that lead to where it went wrong."""
    names: list[str] = []
    while context and context.parent:
        names.insert(0, context.info_name)
        context = context.parent
    return names
