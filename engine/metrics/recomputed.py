"""Which tokens of a pass had been computed before: the one place that says what is no use."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.events import RowRecord, Step


@dataclass(slots=True)
class Recomputed:
    """Follows what preemptions threw away until it is computed again; feed it every step."""

    _lost: dict[str, int] = field(default_factory=dict)  # tokens computed once, by request

    def count(self, step: Step) -> int:
        """Tokens of a step that had been computed before a preemption."""
        for lost in step.preempted:
            self._lost[lost.request_id] = max(lost.num_lost, self._lost.get(lost.request_id, 0))
        return sum(map(self._count_row, step.rows)) if self._lost else 0

    def copy(self) -> Recomputed:
        """A second one that goes on by itself."""
        return Recomputed(self._lost.copy())

    def _count_row(self, row: RowRecord) -> int:
        lost = self._lost.get(row.request_id)
        if lost is None:
            return 0
        end = row.num_computed + row.num_tokens
        if end >= lost:
            del self._lost[row.request_id]
        return max(0, min(lost, end) - row.num_computed)
