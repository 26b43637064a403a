"""Which rows of a trace are played, and when: window, every so-manieth, limit, in order of time."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice

from engine.checks import require, require_natural, require_positive
from engine.config import ConfigError
from engine.traces import Row, RowError, Tally, TraceFile
from engine.traces.stamps import SECOND
from engine.traces.survey import NO_OUTPUT, NO_PROMPT, UNSORTED

Placed = tuple[float, Row]  # seconds since the first row of the trace, and the row


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A stretch of a trace, in seconds since its first row; its end is not in it."""

    from_s: float = 0.0
    to_s: float

    def __post_init__(self) -> None:
        require_natural(from_s=self.from_s)
        require(self.to_s > self.from_s, f"to_s must be above from_s, got {self.to_s}")


@dataclass(frozen=True, slots=True)
class Choice:
    """Which rows are wanted.

    Attributes:
        window: only rows in it; None for all.
        every: each so-manieth of them.
        limit: so many at most, the first by time; what is held in memory grows with it alone.
        keeps_empty: whether rows with no output token are wanted too.
        ordered: rows are in order of time, so that reading may end with the last one wanted.
    """

    window: Window | None = None
    every: int = 1
    limit: int | None = None
    keeps_empty: bool = False
    ordered: bool = False

    def __post_init__(self) -> None:
        require_positive(every=self.every, limit=1 if self.limit is None else self.limit)

    def rows(self, trace: TraceFile, tally: Tally) -> list[Placed]:
        """Read the rows that are wanted, in order of time; equal ones as they stand.

        Raises:
            ConfigError: the file cannot be read to its end, or is not in the order it should be.
        """
        inside = self._inside(self._placed(trace, tally), tally)
        if self.limit is None:
            ordered = sorted(inside, key=_time)
        elif self.ordered:
            ordered = list(islice(inside, self.limit * self.every))
        else:
            ordered = heapq.nsmallest(self.limit * self.every, inside, key=_time)
        kept = ordered[:: self.every]
        num_thinned = (tally.num_kept - 1) // self.every + 1 if tally.num_kept else 0
        _drop(tally, tally.num_kept - num_thinned, "left out between those taken")
        _drop(tally, tally.num_kept - len(kept), "beyond the limit")
        return kept

    def _placed(self, trace: TraceFile, tally: Tally) -> Iterator[Placed]:
        """The usable rows with their times, in the order of the file."""
        has_stamps = trace.format.has_stamps
        place = _Placer(_first_stamp(trace, self.ordered) if has_stamps else None)
        for row in trace.rows(tally):
            try:
                self._check(row)
                placed = place(row), row
            except RowError as reason:
                tally.dropped[str(reason)] += 1
                continue
            if self.ordered and not place.is_sorted:
                raise ConfigError(
                    f"row {tally.num_read} is earlier than one before it", ("ordered",)
                )
            yield placed
        if not place.is_sorted:
            tally.note(UNSORTED)

    def _check(self, row: Row) -> None:
        if row.num_prompt_tokens == 0:
            raise RowError(NO_PROMPT)
        if row.num_output_tokens == 0 and not self.keeps_empty:
            raise RowError(NO_OUTPUT)

    def _inside(self, rows: Iterator[Placed], tally: Tally) -> Iterator[Placed]:
        for moment, row in rows:
            if not self.window or self.window.from_s <= moment < self.window.to_s:
                yield moment, row
                continue
            tally.dropped["outside the window"] += 1
            if self.ordered and moment >= self.window.to_s:
                return


class _Placer:
    """Gives rows their times, in seconds since the first of them.

    A row without a stamp comes `delay` after the one before it in its session, or at the
    beginning.

    Args:
        first: earliest stamp of the trace, in nanoseconds; None where it has none at all, and
            rows are placed as they stand.
    """

    def __init__(self, first: int | None) -> None:
        self._first = first
        self._positions = count()
        self._sessions: dict[str, int] = {}
        self._last = 0
        self.is_sorted = True

    def __call__(self, row: Row) -> float:
        if self._first is None:
            return float(next(self._positions))
        moment = self._moment(row)
        if row.key:
            self._sessions[row.key] = moment
        if row.stamp is not None:
            self.is_sorted = self.is_sorted and moment >= self._last
            self._last = moment
        return moment / SECOND

    def _moment(self, row: Row) -> int:
        if row.stamp is not None and self._first is not None:
            return row.stamp - self._first
        if not row.key:
            raise RowError("without a timestamp or a session")
        return self._sessions.get(row.before, 0) + (row.delay or 0)


def _first_stamp(trace: TraceFile, ordered: bool) -> int:
    stamps = (row.stamp for row in trace.rows(Tally()) if row.stamp is not None)
    return next(stamps, 0) if ordered else min(stamps, default=0)


def _drop(tally: Tally, number: int, reason: str) -> None:
    if number:
        tally.dropped[reason] += number


def _time(placed: Placed) -> float:
    return placed[0]
