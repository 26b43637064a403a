"""Compiled libraries as they are kept: which are whole, and which nobody needs any more.

A library of which the end is missing, as after a full disk or a crash of the machine, may not be
refused by the loader: reading on behind its end kills the process.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

SEAL = b"\nbatchscope: this library is whole\n"  # loaders do not read on behind what they need
KEEP_SECONDS = 7 * 86_400.0  # machines of several kinds may share a cache, and take turns


def seal(library: Path) -> None:
    """Mark the end of a library that was just linked.

    Raises:
        OSError: there is none, or it cannot be written.
    """
    with library.open("r+b") as file:
        file.seek(0, os.SEEK_END)
        file.write(SEAL)


def is_whole(library: Path) -> bool:
    """Whether it is there to its end."""
    try:
        with library.open("rb") as file:
            file.seek(-len(SEAL), os.SEEK_END)
            return file.read() == SEAL
    except OSError:
        return False  # none, shorter than a seal, or not ours to read


def delete_superseded(library: Path) -> None:
    """Delete the old libraries beside a new one; who has one open goes on with it."""
    oldest = time.time() - KEEP_SECONDS
    for other in library.parent.glob("kernels-*.so"):
        try:
            if other != library and other.stat().st_mtime < oldest:
                other.unlink()
        except OSError:
            continue  # another process was faster, or it is not ours: it only takes up room
