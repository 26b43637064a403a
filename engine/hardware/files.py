"""Where the data files lie, and how one is read."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from engine.config import ConfigError

SUFFIX = ".toml"


def shipped_files(folder: str) -> dict[str, Path]:
    """The files that come with batchscope, by what they are called."""
    here = Path(__file__).parent / folder
    return {path.stem: path for path in sorted(here.glob(f"*{SUFFIX}"))}


def user_folder(folder: str) -> Path:
    """The folder for files of the user's own; it need not exist."""
    from platformdirs import user_data_path  # a machine that only runs models may lack it

    return user_data_path("batchscope", appauthor=False) / folder


def read_table(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        ConfigError: there is none, or it is no TOML.
    """
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", place=str(path)) from error
    except UnicodeDecodeError as error:
        raise ConfigError("cannot be read: it is not UTF-8", place=str(path)) from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"this is no TOML: {error}", place=str(path)) from error
