"""`Tally`: what became of the rows of a trace, by reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class Tally:
    """Counts that add up: every row that was read was kept or dropped.

    Attributes:
        num_read: rows, blank lines left out.
        dropped: rows left out, by reason.
        changed: of the rows kept, those with a length changed or assumed, by what was done.
        notes: what else is worth knowing, each once.
    """

    num_read: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    notes: dict[str, None] = field(default_factory=dict)

    @property
    def num_kept(self) -> int:
        return self.num_read - sum(self.dropped.values())

    def note(self, text: str) -> None:
        """Remember something, once."""
        self.notes[text] = None

    def lines(self) -> list[str]:
        """All of it, for people."""
        return [
            f"{self.num_read:,} rows read = {self.num_kept:,} kept"
            f" + {sum(self.dropped.values()):,} dropped",
            *(f"dropped: {count:,} {reason}" for reason, count in sorted(self.dropped.items())),
            *(f"changed: {count:,} {what}" for what, count in sorted(self.changed.items())),
            *self.notes,
        ]
