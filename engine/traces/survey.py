"""`survey`: one pass over a trace for what is worth saying of it, in bounded memory."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import accumulate
from math import ceil, sqrt

from engine.traces.reading import TraceFile
from engine.traces.row import Row
from engine.traces.stamps import SECOND
from engine.traces.tally import Tally

SHARES = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
UNSORTED = "its rows are not in order of time; they are sorted, equal ones as they stand"
NO_PROMPT, NO_OUTPUT = "without prompt tokens", "without output tokens"


@dataclass(slots=True)
class Gaps:
    """Mean and spread of the times between rows, as they come (Welford 1962).

    Attributes:
        first, last: the earliest and the latest stamp, in nanoseconds.
        is_sorted: whether no row was earlier than the one before it.
    """

    first: int | None = None
    last: int | None = None
    is_sorted: bool = True
    _previous: int | None = None
    _count: int = 0
    _mean: float = 0.0
    _squares: float = 0.0

    def add(self, stamp: int) -> None:
        """Count a row."""
        self.first = stamp if self.first is None else min(self.first, stamp)
        self.last = stamp if self.last is None else max(self.last, stamp)
        if self._previous is not None:
            gap = stamp - self._previous
            self.is_sorted = self.is_sorted and gap >= 0
            self._count += 1
            delta = gap - self._mean
            self._mean += delta / self._count
            self._squares += delta * (gap - self._mean)
        self._previous = stamp

    @property
    def span(self) -> float:
        """Seconds from the first row to the last."""
        return 0.0 if self.first is None or self.last is None else (self.last - self.first) / SECOND

    @property
    def cv(self) -> float | None:
        """Coefficient of variation; None where rows are unsorted, few, or all at once."""
        if not self.is_sorted or not self._count or not self._mean:
            return None
        return sqrt(self._squares / self._count) / self._mean


@dataclass(slots=True)
class Survey:
    """What a trace is like.

    Attributes:
        prompts, outputs: how often each length occurs; empty where texts stand instead.
        num_texts: rows whose lengths depend on a tokenizer.
    """

    tally: Tally = field(default_factory=Tally)
    gaps: Gaps = field(default_factory=Gaps)
    prompts: Counter[int] = field(default_factory=Counter)
    outputs: Counter[int] = field(default_factory=Counter)
    num_texts: int = 0


def survey(trace: TraceFile, on_progress: Callable[[int], object] = lambda done: None) -> Survey:
    """Read a trace once, from beginning to end.

    Args:
        on_progress: told now and then how many bytes were read.

    Raises:
        ConfigError: the file cannot be read to its end.
    """
    found = Survey()
    for row in trace.rows(found.tally, on_progress):
        if row.stamp is not None:
            found.gaps.add(row.stamp)
        _count(found, row)
    if not found.gaps.is_sorted:
        found.tally.note(
            "its rows are not in order of time; they are sorted, equal ones as they stand"
        )
    return found


def quantiles(lengths: Counter[int], shares: Iterable[float] = SHARES) -> list[int]:
    """For each share the smallest length that so many of all do not exceed."""
    values = sorted(lengths)
    reached = list(accumulate(lengths[value] for value in values))
    ranks = [max(1, ceil(share * reached[-1])) for share in shares] if reached else []
    return [values[bisect_left(reached, rank)] for rank in ranks]


def _count(found: Survey, row: Row) -> None:
    if row.num_prompt_tokens == 0:
        found.tally.dropped[NO_PROMPT] += 1
    elif row.num_output_tokens == 0:
        found.tally.dropped[NO_OUTPUT] += 1
    else:
        found.num_texts += row.num_prompt_tokens is None
        if row.num_prompt_tokens is not None:
            found.prompts[row.num_prompt_tokens] += 1
        if row.num_output_tokens is not None:
            found.outputs[row.num_output_tokens] += 1
