"""`require`: what an option needs beyond what is always installed, and the extra that brings it."""

from __future__ import annotations

from importlib.util import find_spec

from engine.config import ConfigError


def require(module: str, option: str, extra: str) -> None:
    """See that a module is there, before anything is loaded.

    Args:
        option: of the command line, which needs it.
        extra: of this project, which brings it.

    Raises:
        ConfigError: it is not installed.
    """
    if find_spec(module) is None:
        raise ConfigError(f'{option} needs {module}: pip install -e ".[{extra}]"')
