"""From stretches of time to cells of equal time: what the rows of a lane show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil

from tuiapp.lanes.track import Mark, Stretch, Track
from tuiapp.view.columns import Cell
from tuiapp.view.phases import Phase

Cells = list[Cell | None]


def draw_slots(track: Track, slots: range, span: float, width: int) -> Cells:
    """What some slots do in each of `width` cells that together take `span` seconds.

    A cell shows what takes most of its time. Of a single slot, the begin of a prompt, the last
    token of an answer and an eviction are shown however short they are.
    """
    stretches = [each for slot in slots if slot < len(track.slots) for each in track.slots[slot]]
    cells = _mostly(stretches, span / width, width, len(slots))
    if len(slots) == 1:
        marks = [mark for mark in track.marks if mark.slot == slots[0]]
        _mark(cells, stretches, marks, span / width)
    return cells


def cell_of(time: float, size: float, width: int) -> int:
    """The cell that a moment falls into; the end of a cell belongs to it."""
    return max(0, min(width - 1, ceil(time / size - 1e-9) - 1))


def moment_in(x: int, span: float, width: int) -> float | None:
    """The middle of a cell, in seconds, where `width` cells take `span`; None beside them."""
    return (x + 0.5) / width * span if 0 <= x < width else None


def _mostly(stretches: Iterable[Stretch], size: float, width: int, num_slots: int) -> Cells:
    """The longest of what shares a cell, the free time included."""
    spent: list[dict[Cell, float]] = [{} for _ in range(width)]
    for stretch in stretches:
        cell = Cell(stretch.phase, stretch.request_id)
        first, last = int(stretch.began / size), cell_of(stretch.ended, size, width)
        for at in range(first, last + 1):
            seconds = min(stretch.ended, (at + 1) * size) - max(stretch.began, at * size)
            spent[at][cell] = spent[at].get(cell, 0.0) + seconds
    return [_longest(each, size * num_slots) for each in spent]


def _longest(spent: dict[Cell, float], seconds: float) -> Cell | None:
    if not spent:
        return None
    longest = max(spent, key=spent.__getitem__)
    phases: dict[Phase, float] = {}
    for cell, each in spent.items():
        phases[cell.phase] = phases.get(cell.phase, 0.0) + each
    phase = max(phases, key=phases.__getitem__)
    if phases[phase] < seconds - sum(spent.values()) - 1e-9:
        return None
    return longest if longest.phase is phase else Cell(phase, longest.request_id)


def _mark(cells: Cells, stretches: Sequence[Stretch], marks: Sequence[Mark], size: float) -> None:
    """Show what would be lost between longer things."""
    width = len(cells)
    taken = {cell_of(mark.time, size, width): mark.request_id for mark in marks}
    for stretch in stretches:
        at = min(width - 1, int(stretch.began / size))
        is_after_another = at in taken and taken[at] != stretch.request_id
        at += is_after_another and at + 1 < width
        if stretch.phase is Phase.PREFILL and at not in taken:
            cells[at] = Cell(Phase.PREFILL, stretch.request_id)
    for mark in marks:
        cells[cell_of(mark.time, size, width)] = Cell(mark.phase, mark.request_id)
