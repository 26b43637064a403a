"""Where preset files lie, and how one is found by its name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_data_path

from engine.config import ConfigError, suggest
from tuiapp.presets.parse import parse
from tuiapp.presets.preset import Preset

SUFFIX = ".toml"
OTHERS = "`batchscope import` reads traces, `batchscope replay` plays recordings"
NAME = re.compile(r"[\w-]+")  # what a new preset may be called


@dataclass(frozen=True, slots=True)
class Shelf:
    """Every preset that could be read, and what was wrong with the others."""

    presets: tuple[Preset, ...]
    errors: tuple[ConfigError, ...]


def shipped_folder() -> Path:
    """The folder of the presets that come with batchscope."""
    package = Path(__file__).parents[1]
    installed = package / "_presets"
    return installed if installed.is_dir() else package.parent / "presets"


def user_folder() -> Path:
    """The folder for presets of the user's own; it need not exist."""
    return user_data_path("batchscope", appauthor=False) / "presets"


def trace_folder() -> Path:
    """The folder for traces of the user's own; it need not exist."""
    return user_data_path("batchscope", appauthor=False) / "traces"


def default_folders() -> tuple[Path, ...]:
    """Where presets are looked for; what comes later replaces what has the same name."""
    return (shipped_folder(), user_folder())


def preset_names() -> list[str]:
    """What presets are called, unread."""
    return sorted(_named(None))


def list_presets(folders: tuple[Path, ...] | None = None) -> Shelf:
    """Read all presets, in the order in which to show them."""
    presets, errors = [], []
    for path in _named(folders).values():
        try:
            presets.append(read_preset(path))
        except ConfigError as error:
            errors.append(error)
    presets.sort(key=lambda preset: (preset.about.order, preset.name))
    return Shelf(tuple(presets), tuple(errors))


def find_preset(name: str, folders: tuple[Path, ...] | None = None) -> Preset:
    """The preset of that name, or in the file of that name.

    `my-story.toml` is the file of that name here, or else the one in the folders, so that a preset
    is found by the name of its file wherever it lies.

    Raises:
        ConfigError: there is none, or its file is wrong.
    """
    named, path = _named(folders), Path(name)
    if name in named:
        return read_preset(named[name])
    is_preset = path.suffix == SUFFIX
    if path.is_file():
        return read_preset(path) if is_preset else _read_other(path)
    if is_preset and path.name == name and path.stem in named:
        return read_preset(named[path.stem])
    raise _missing(path, named)


def read_preset(path: Path) -> Preset:
    """Read one preset file.

    Raises:
        ConfigError: it cannot be read, or is wrong.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigError(f"cannot be read: {reason}", place=str(path)) from error
    return parse(text, path, (trace_folder(), Path()))


def _read_other(path: Path) -> Preset:
    """Read a file that is not called like a preset.

    Raises:
        ConfigError: it is none; the message says what may be done with other files.
    """
    try:
        return read_preset(path)
    except ConfigError as error:
        problem = f"is no preset: {error.problem}; {OTHERS}"
        raise ConfigError(problem, error.path, error.place) from None


def _missing(path: Path, named: Mapping[str, Path]) -> ConfigError:
    """That there is no such preset, and what there is."""
    if path.suffix == SUFFIX or len(path.parts) > 1:
        problem = f"there is no such file; your own presets lie in {user_folder()}"
        return ConfigError(problem, place=str(path))
    beside = path.with_name(f"{path.name}{SUFFIX}")
    hint = f"the file here is {beside}" if beside.is_file() else suggest(path.name, named)
    return ConfigError(f"no preset is called {path.name!r}; {hint}")


def _named(folders: tuple[Path, ...] | None) -> dict[str, Path]:
    """The preset files, by preset."""
    chosen = default_folders() if folders is None else folders
    paths = (path for folder in chosen for path in sorted(folder.glob(f"*{SUFFIX}")))
    return {path.stem: path for path in paths}
