"""Devices by name: `find_device`.

A name is that of a shipped file, such as `h200`, of a file in the user's own folder, or a path.
`h100x8` is eight of them that share a model.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from engine.config import ConfigError, build, suggest
from engine.cost import Device
from engine.cost.several import name_several
from engine.hardware.files import SUFFIX, read_table, shipped_files, user_folder

FOLDER = "devices"


@dataclass(frozen=True, slots=True)
class Machine:
    """So many devices of a kind that share a model."""

    device: Device
    count: int = 1

    @property
    def name(self) -> str:
        return name_several(self.device.name, self.count)


def find_device(name: str) -> Machine:
    """The device of that name, or several.

    Raises:
        ConfigError: there is none, or its file is wrong.
    """
    if name.endswith(SUFFIX):
        return Machine(read_device(Path(name).expanduser()))
    files = device_files()
    if name in files:
        return Machine(read_device(files[name]))
    several = re.fullmatch(r"(.+)x([1-9]\d*)", name)
    if several and several[1] in files:
        return Machine(read_device(files[several[1]]), int(several[2]))
    known = ["sim:linear", *(f"sim:{each}" for each in files)]
    wanted = f"sim:{several[1] if several else name}"
    raise ConfigError(f"unknown device {f'sim:{name}'!r}; {suggest(wanted, known)}")


def device_files() -> dict[str, Path]:
    """The files by what they are called; the user's replace the shipped ones."""
    own = {path.stem: path for path in sorted(device_folder().glob(f"*{SUFFIX}"))}
    return shipped_files(FOLDER) | own


def device_folder() -> Path:
    """The folder for devices of the user's own; it need not exist."""
    return user_folder(FOLDER)


def read_device(path: Path) -> Device:
    """Read one device file.

    Raises:
        ConfigError: it cannot be read, or is wrong.
    """
    return build(Device, read_table(path), str(path))
