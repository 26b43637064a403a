from __future__ import annotations

import gc

import pytest

from engine.collector import YOUNG, collect_seldom


@pytest.fixture(autouse=True)
def _put_back():
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_young_garbage_is_looked_for_seldom_and_old_as_before():
    gc.set_threshold(700, 11, 12)
    collect_seldom()
    assert gc.get_threshold() == (YOUNG, 11, 12)


def test_cycles_are_still_found():
    class Knot:
        alive = 0

        def __init__(self) -> None:
            self.itself = self
            Knot.alive += 1

        def __del__(self) -> None:
            Knot.alive -= 1

    collect_seldom()
    kept = []
    for _ in range(2 * YOUNG):
        kept.append([])
        if len(kept) == 1:
            Knot()
    assert Knot.alive == 0
