"""Passes written down by hand, whose time is split as one likes."""

from __future__ import annotations

from engine.events import RowRecord, Split, Step, Work

SPLIT = Split(
    schedule=0.001,
    prepare=0.002,
    launch=0.003,
    sample=0.004,
    wait=0.005,
    detokenise=0.006,
    apply=0.007,
    log=0.008,
)


def step(began, duration=0.030, split=SPLIT, *, finished=False, work=Work.DECODE):
    row = RowRecord(0, "a", work, 1, 9, 10, sampled=True, finished=finished)
    return Step(0, began + duration, duration, (row,), 1, 1, False, (), (), (), 0, 1, 4, split)
