"""Several devices of one kind that share a model, as one name: `name_several` and `split_several`.

Engines write it and whoever looks a device up reads it, so both are here.
"""

from __future__ import annotations

import re

SEVERAL = re.compile(r"([1-9]\d*) x (.+)")


def name_several(name: str, count: int) -> str:
    """What so many of a device are called together, as in `2 x NVIDIA H200`."""
    return name if count == 1 else f"{count} x {name}"


def split_several(name: str) -> tuple[str, int]:
    """What one of them is called, and how many they are."""
    several = SEVERAL.fullmatch(name)
    return (several[2], int(several[1])) if several else (name, 1)
