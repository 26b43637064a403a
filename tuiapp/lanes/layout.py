"""How lanes share the height of a terminal, and slots the rows of a lane; arithmetic only."""

from __future__ import annotations

from collections.abc import Sequence

TITLE = 1  # the line above the rows of a lane
Bands = tuple[range, ...]  # slots that one row shows, side by side from top to bottom


def share_rows(height: int, num_slots: Sequence[int], picked: int) -> tuple[int, ...]:
    """Rows for each lane: a row a slot for the picked one first, half as many for the others.

    Args:
        height: lines for all lanes together.
        num_slots: of each lane.
    """
    fair = max(1, height // len(num_slots) - TITLE)
    rows = [min(fair, -(-count // 2)) for count in num_slots]
    spare = max(0, height - sum(rows) - TITLE * len(rows))
    for index in [picked, *(i for i in range(len(rows)) if i != picked)]:
        wanted = num_slots[index] - rows[index]
        if wanted <= spare:
            rows[index] += wanted
            spare -= wanted
    for index in [picked, *range(len(rows))]:
        grown = min(spare, max(0, -(-num_slots[index] // 2) - rows[index]))
        rows[index] += grown
        spare -= grown
    return tuple(rows)


def band_slots(num_slots: int, num_rows: int, *, can_halve: bool) -> tuple[Bands, ...]:
    """Which slots each row shows: one, or two in halves of it, or several taken together.

    Args:
        can_halve: half blocks can be drawn, which tell phases apart by colour alone.
    """
    num_rows = max(1, min(num_slots, num_rows))
    halves = 2 if can_halve and num_rows < num_slots else 1
    size = -(-num_slots // (num_rows * halves))
    bands = [range(at, min(at + size, num_slots)) for at in range(0, num_slots, size)]
    return tuple(tuple(bands[at : at + halves]) for at in range(0, len(bands), halves))
