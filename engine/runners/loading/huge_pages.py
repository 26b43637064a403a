"""Move a model's weights to memory in pages of 2 MiB: `use_huge_pages`.

A decode step reads every weight once, and with pages of 4 KiB the processor looks up an address
for every 64 lines of them. Where Linux leaves it to the process (`madvise` in
/sys/kernel/mm/transparent_hugepage/enabled, as most distributions do), it has to be asked.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable

HUGE_PAGE = 2 * 1024 * 1024
MADV_COLLAPSE = 25  # Linux 6.1: copies to huge pages at once, not when a daemon comes by
Range = tuple[int, int]


def use_huge_pages(ranges: Iterable[Range]) -> int:
    """Have Linux move what lies in memory to huge pages, as far as it can; no pointer changes.

    Elsewhere, on an older Linux, or if no huge page is free, all stays as it is and works as well.

    Args:
        ranges: address and bytes of each.

    Returns:
        Bytes of the pages that it moved, or that were there already.
    """
    if not sys.platform.startswith("linux"):
        return 0
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    moved = [not madvise(page, HUGE_PAGE, MADV_COLLAPSE) for page in pages_of(ranges)]
    return sum(moved) * HUGE_PAGE


def pages_of(ranges: Iterable[Range]) -> list[int]:
    """Addresses of the huge pages that the ranges lie on.

    Other memory that lies on one of them is moved along, unless it is no memory of this kind: then
    the page stays as it is.
    """
    pages: set[int] = set()
    for address, size in ranges:
        pages.update(range(address // HUGE_PAGE * HUGE_PAGE, address + size, HUGE_PAGE))
    return sorted(pages)
