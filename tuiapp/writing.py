"""Files that a user names: whether they can be written, and writing them."""

from __future__ import annotations

from pathlib import Path

from engine.config import ConfigError


def check_writable(path: Path) -> None:
    """Find out before minutes of work, not after; a file that was not there is not there then.

    Raises:
        ConfigError: it cannot be written.
    """
    was_there = path.exists()
    try:
        with path.open("a", encoding="utf-8"):
            pass
        if not was_there:
            path.unlink()
    except OSError as error:
        raise _refusal(path, error) from None


def write_file(path: Path, text: str) -> None:
    """Write text, in place of what was there.

    Raises:
        ConfigError: it cannot be written.
    """
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise _refusal(path, error) from None


def make_folder(path: Path) -> None:
    """Make a folder and those above it; it may be there.

    Raises:
        ConfigError: it cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"cannot be made: {error.strerror}", place=str(path)) from None


def _refusal(path: Path, error: OSError) -> ConfigError:
    return ConfigError(f"cannot be written: {error.strerror}", place=str(path))
