"""From a `Step` to the column of the timeline that shows it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from engine.events import RowRecord, Step, Work
from tuiapp.view.phases import Phase

PHASES = {
    Work.PREFILL: Phase.PREFILL,
    Work.DECODE: Phase.DECODE,
    Work.HELD: Phase.HELD,
    Work.STALLED: Phase.STALLED,
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One slot in one pass."""

    phase: Phase
    request_id: str


@dataclass(frozen=True, slots=True)
class Column:
    """One forward pass.

    Attributes:
        index: of the pass.
        cells: by slot; None is a free slot, and slots past the end are free too.
        num_prefill, num_decode: tokens of either kind, padding left out.
        num_padding: token positions computed for nothing.
        seconds: how long the pass took.
    """

    index: int
    cells: tuple[Cell | None, ...]
    num_prefill: int
    num_decode: int
    num_padding: int
    seconds: float

    def cell(self, slot: int) -> Cell | None:
        """What the slot did, or None if it was free."""
        return self.cells[slot] if slot < len(self.cells) else None


def make_column(step: Step) -> Column:
    """The column of a step; an evicted sequence shows in its old slot if nobody took that."""
    width = max((row.slot for row in step.rows), default=-1) + 1
    width = max([width, *(lost.slot + 1 for lost in step.preempted)])
    cells: list[Cell | None] = [None] * width
    for lost in step.preempted:
        cells[lost.slot] = _cell(Phase.EVICTED, lost.request_id)
    num_decode = 0
    for row in step.rows:
        cells[row.slot] = _cell(_phase(row), row.request_id)
        num_decode += row.work is Work.DECODE
    return Column(
        index=step.index,
        cells=tuple(cells),
        num_prefill=step.num_tokens - num_decode,
        num_decode=num_decode,
        num_padding=step.num_slots - step.num_tokens,
        seconds=step.duration,
    )


@lru_cache(maxsize=4096)
def _cell(phase: Phase, request_id: str) -> Cell:
    """One object for like cells, so that runs of them are found by identity."""
    return Cell(phase, request_id)


def _phase(row: RowRecord) -> Phase:
    return Phase.LAST if row.finished else PHASES[row.work]
