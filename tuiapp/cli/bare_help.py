"""`BareCommand` and `BareGroup`: help without Python's types, and errors of one line.

typer sets `<bool>` beside a flag, as if it took a value, and `<str>` beside an argument that has a
name already.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from tuiapp.cli.usage import MISUSED, UsageError, tell_usage_error


class BareCommand(TyperCommand):
    """A command whose help names what a value is, and no type where there is none."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _strip(super().get_params(ctx))


class BareGroup(TyperGroup):
    """The same for a command that has others below it."""

    def main(self, *args: Any, **extra: Any) -> Any:
        try:
            code = super().main(*args, **{**extra, "standalone_mode": False})
        except UsageError as error:
            typer.echo(tell_usage_error(error), err=True)
            code = MISUSED
        sys.exit(code)

    def get_params(self, ctx: Any) -> list[Any]:
        return _strip(super().get_params(ctx))


def _strip(parameters: Iterable[Any]) -> list[Any]:
    """The same parameters, of which flags and named arguments say no type."""
    return [_name_no_type(each) for each in parameters]


def _name_no_type(parameter: Any) -> Any:
    if getattr(parameter, "is_flag", False):
        parameter.metavar = ""
    elif isinstance(parameter, TyperArgument):
        vars(parameter)["display_type_rich"] = _say_nothing
    return parameter


def _say_nothing(ctx: Any) -> None:
    """What typer shows as the type of an argument."""
