"""`SlotSlices`: the slots of an engine as threads of a trace, a slice for each like stretch."""

from __future__ import annotations

from dataclasses import dataclass

from engine.events import RowRecord, Step, Work
from tuiapp.export.trace import Process, Record


@dataclass(slots=True)
class _Stretch:
    """Like work of one request in one slot, pass after pass."""

    request_id: str
    work: Work
    began: float
    ended: float
    num_passes: int = 0
    num_tokens: int = 0

    def continues(self, row: RowRecord) -> bool:
        return (self.request_id, self.work) == (row.request_id, row.work)


class SlotSlices:
    """Joins the rows of the passes; what is under way is written when it ends."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._named: set[int] = set()
        self._stretches: dict[int, _Stretch] = {}

    def follow(self, step: Step) -> list[Record]:
        """What ends with a step, and who lost a slot before it."""
        rows = {row.slot: row for row in step.rows}
        began = step.time - step.duration
        over = [
            slot
            for slot, stretch in self._stretches.items()
            if slot not in rows or not stretch.continues(rows[slot])
        ]
        records = [self._end(slot) for slot in over]
        for lost in step.preempted:
            name, args = f"preempted {lost.request_id}", {"tokens_lost": lost.num_lost}
            records.append(self._process.instant(lost.slot + 1, name, began, args))
        for row in step.rows:
            records += self._name(row.slot)
            self._extend(row, began, step.time)
        return records

    def close(self) -> list[Record]:
        """What was still under way."""
        return [self._end(slot) for slot in sorted(self._stretches)]

    def _extend(self, row: RowRecord, began: float, ended: float) -> None:
        fresh = _Stretch(row.request_id, row.work, began, ended)
        stretch = self._stretches.setdefault(row.slot, fresh)
        stretch.ended = ended
        stretch.num_passes += 1
        stretch.num_tokens += row.num_tokens

    def _end(self, slot: int) -> Record:
        stretch = self._stretches.pop(slot)
        name = f"{stretch.work.value} {stretch.request_id}"
        args = {"passes": stretch.num_passes, "tokens": stretch.num_tokens}
        seconds = stretch.ended - stretch.began
        return self._process.complete(slot + 1, name, stretch.began, seconds, args)

    def _name(self, slot: int) -> list[Record]:
        if slot in self._named:
            return []
        self._named.add(slot)
        return [
            self._process.metadata("thread_name", slot + 1, {"name": f"slot {slot}"}),
            self._process.metadata("thread_sort_index", slot + 1, {"sort_index": slot + 1}),
        ]
