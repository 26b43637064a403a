"""`batchscope config`: where the config file lies, what is in force, and a file to begin with."""

from __future__ import annotations

import json
from dataclasses import fields
from importlib.resources import files

import typer

from engine.config import ConfigError
from tuiapp.preferences import Preferences, config_path, read_preferences
from tuiapp.preferred import choose_preset
from tuiapp.screens.live_keys import KEYS
from tuiapp.text import one_line

DONE, MISUSED = 0, 2


def print_preferences() -> int:
    """Print what is in force, as TOML, and what is wrong with the file.

    Returns:
        The exit code: 0, or 2 if something is wrong.
    """
    path = config_path()
    _, found = choose_preset(read_preferences(path, KEYS), None, is_idle=False)
    typer.echo(f"# {path}{'' if path.exists() else ' (not there: batchscope config --init)'}")
    for field in fields(Preferences):
        if field.name != "keys":
            typer.echo(f"{field.name} = {json.dumps(getattr(found.preferences, field.name))}")
    typer.echo("\n[keys]")
    for action, keys in (KEYS | dict(found.preferences.keys)).items():
        typer.echo(f"{action} = {json.dumps(keys)}")
    for problem in found.problems:
        typer.echo(f"batchscope: {one_line(str(problem))}", err=True)
    return MISUSED if found.problems else DONE


def write_template() -> int:
    """Write a file in which everything is commented out, and print where it is.

    Raises:
        ConfigError: there is one already, or it cannot be written.
    """
    path = config_path()
    if path.exists():
        raise ConfigError("is there already; take it away to begin anew", place=str(path))
    text = (files("tuiapp.preferences") / "template.toml").read_text("utf-8")
    keys = "".join(f"# {action} = {json.dumps(keys)}\n" for action, keys in KEYS.items())
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + keys, "utf-8")
    except OSError as error:
        raise ConfigError(f"cannot be written: {error.strerror}", place=str(path)) from error
    typer.echo(str(path))
    return DONE
