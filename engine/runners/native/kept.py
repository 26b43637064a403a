"""Compiled libraries as they are kept: which are whole, and which nobody needs any more.

A library of which the end is missing, as after a full disk or a crash of the machine, may not be
refused by the loader: reading on behind its end kills the process. Every new version, compiler and
kind of machine makes another library; of those `MOST_OTHERS` are kept beside the newest, and none
that nobody used for `KEEP_SECONDS`, so that the cache stays below a few megabytes.
"""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

SEAL = b"\nbatchscope: this library is whole\n"  # loaders do not read on behind what they need
LIBRARIES, WORKSHOP = "kernels-*.so", "compiling-"
MOST_OTHERS = 7  # machines of several kinds may share a cache, and take turns
KEEP_SECONDS = 7 * 86_400.0
COMPILING_SECONDS = 3_600.0  # longer than any compiler is given


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


def note_use(library: Path) -> None:
    """Note that somebody uses it, whether the file system does so by itself or not."""
    with suppress(OSError):  # it is not ours: whoever compiled it looks after it
        os.utime(library, (time.time(), library.stat().st_mtime))


def delete_superseded(library: Path) -> None:
    """Delete what lies beside a new library and nobody needs; who has one open goes on with it.

    Of the others the few are kept that were used last, and of those the ones of the last week.
    What a compiler left that was killed goes too, once none can be at work any more.
    """
    now = time.time()
    others = (each for each in library.parent.glob(LIBRARIES) if each != library)
    used = {other: _last_use(other) for other in others}
    latest = sorted(used, key=lambda other: -used[other])
    old = [other for other in latest if used[other] < now - KEEP_SECONDS]
    for other in {*latest[MOST_OTHERS:], *old}:
        with suppress(OSError):  # another process was faster, or it is not ours
            other.unlink()
    for folder in library.parent.glob(f"{WORKSHOP}*"):
        if _last_use(folder) < now - COMPILING_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)


def _last_use(path: Path) -> float:
    """When it was made or used last, in seconds of the clock on the wall; 0 if it is gone."""
    try:
        status = path.stat()
    except OSError:
        return 0.0
    return max(status.st_mtime, status.st_atime)
