import mmap
import sys

import numpy as np
import pytest

from engine.runners.loading.huge_pages import HUGE_PAGE, pages_of, use_huge_pages

KIB = 1024


def test_a_range_lies_on_every_page_that_it_touches() -> None:
    assert pages_of([(HUGE_PAGE + 5, HUGE_PAGE)]) == [HUGE_PAGE, 2 * HUGE_PAGE]
    assert pages_of([(HUGE_PAGE, HUGE_PAGE)]) == [HUGE_PAGE]


def test_ranges_on_one_page_count_it_once() -> None:
    first, second = (3 * HUGE_PAGE, 64 * KIB), (3 * HUGE_PAGE + 128 * KIB, 64 * KIB)
    assert pages_of([second, first]) == [3 * HUGE_PAGE]


def test_memory_holds_what_it_held_and_lies_on_huge_pages_where_linux_has_them() -> None:
    with mmap.mmap(-1, 4 * HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        array = np.frombuffer(memory, np.uint8)
        array[:] = np.arange(array.size) % 251
        address = array.ctypes.data
        inner = -(-address // HUGE_PAGE) * HUGE_PAGE
        moved = use_huge_pages([(inner, 2 * HUGE_PAGE)])
        assert moved in (0, HUGE_PAGE, 2 * HUGE_PAGE)
        if moved and sys.platform.startswith("linux"):
            assert _huge_kib(address) >= moved // KIB
        assert (array == np.arange(array.size) % 251).all()
        del array


def test_what_is_no_memory_is_left_alone() -> None:
    assert use_huge_pages([(HUGE_PAGE, HUGE_PAGE)]) == 0


def test_other_systems_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert use_huge_pages([(HUGE_PAGE, HUGE_PAGE)]) == 0


def _huge_kib(address: int) -> int:
    """What the mapping at an address has on huge pages, by the system's own account."""
    inside = False
    with open("/proc/self/smaps") as lines:
        for line in lines:
            first, _, rest = line.partition(" ")
            if "-" in first and not first.endswith(":"):
                begin, end = (int(part, 16) for part in first.split("-"))
                inside = begin <= address < end
            elif inside and first == "AnonHugePages:":
                return int(rest.split()[0])
    return 0
