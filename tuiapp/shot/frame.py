"""What a picture is of: which moment, how large, and in which form."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from engine.config import ConfigError

LEAST, MOST = (80, 24), (400, 120)  # columns and lines
SIZE = re.compile(r"(\d{1,4})[x×](\d{1,4})")
MOMENT = re.compile(r"(\d+)|(\d+(?:\.\d+)?)s")


class Form(Enum):
    """What a picture is written as."""

    SVG = "svg"
    TEXT = "txt"


@dataclass(frozen=True, slots=True)
class Moment:
    """One of the two: behind so many forward passes, or so many seconds on the engine's clock."""

    num_passes: int | None = None
    time: float | None = None


def read_moment(text: str) -> Moment:
    """Read `196`, a number of passes, or `3.5s`, seconds.

    Raises:
        ConfigError: it is neither.
    """
    if not (found := MOMENT.fullmatch(text.strip())):
        wanted = "a number of passes such as 196, or seconds such as 3.5s"
        raise ConfigError(f"must be {wanted}; got {text!r}", place="--at")
    passes, seconds = found.groups()
    return Moment(int(passes)) if passes else Moment(time=float(seconds))


def read_common_moment(text: str) -> Moment:
    """Read `3.5s`: seconds after all lanes of a comparison have begun.

    Raises:
        ConfigError: it is no such moment.
    """
    moment = read_moment(text)
    if moment.time is None:
        wanted = "seconds such as 3.5s: each lane of a comparison counts its own passes"
        raise ConfigError(f"must be {wanted}; got {text!r}", place="--at")
    return moment


def read_size(text: str) -> tuple[int, int]:
    """Read `120x36`: columns and lines.

    Raises:
        ConfigError: it is no size, or too small or too large for a picture.
    """
    found = SIZE.fullmatch(text.strip())
    if not found:
        raise ConfigError(f"must be columns x lines, such as 120x36; got {text!r}", place="--size")
    width, height = int(found[1]), int(found[2])
    for amount, least, most in zip((width, height), LEAST, MOST, strict=True):
        if not least <= amount <= most:
            bounds = f"{LEAST[0]}x{LEAST[1]} to {MOST[0]}x{MOST[1]}"
            raise ConfigError(f"must be from {bounds}; got {width}x{height}", place="--size")
    return width, height
