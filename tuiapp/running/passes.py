"""`PassTimes`: how long like passes took, which tells how steady a device was.

Lanes that do the same work on the same device run passes of the same size. Where those took longer
in one lane than in another, the device was slower meanwhile, and no batcher is to blame.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import chain
from math import exp, log
from statistics import median

from engine.events import Event, Step

FEWEST = 10  # passes of a size, from which on they have a middle


class PassTimes:
    """Durations of passes in seconds, by the token positions that they computed."""

    def __init__(self) -> None:
        self._by_size: dict[int, array[float]] = {}
        self._middles: dict[int, float] | None = None  # by size, of what was read so far
        self._middle: float | None = None  # of all of them

    def write(self, events: Sequence[Event]) -> None:
        """Read on."""
        for event in events:
            if isinstance(event, Step) and event.rows:
                self._by_size.setdefault(event.num_slots, array("d")).append(event.duration)
                self._middles = self._middle = None

    def drift(self, other: PassTimes) -> float:
        """How many times as long like passes took in the one that was slower; at least 1."""
        mine, theirs = self._by_middle(), other._by_middle()
        ratios = [log(mine[size] / theirs[size]) for size in mine if size in theirs]
        return exp(abs(median(ratios))) if ratios else 1.0

    def usual(self) -> float:
        """Seconds of the middle one of all passes."""
        if self._middle is None:
            self._middle = median(chain(*self._by_size.values())) if self._by_size else 0.0
        return self._middle

    def longest_hitch(self) -> float:
        """Seconds by which a pass took longer than those like it, at worst."""
        middles = self._by_middle()
        return max((max(self._by_size[size]) - middles[size] for size in middles), default=0.0)

    def _by_middle(self) -> dict[int, float]:
        """The middle one of each size of which there are enough passes."""
        if self._middles is None:
            told = {
                size: median(each) for size, each in self._by_size.items() if len(each) >= FEWEST
            }
            self._middles = {size: seconds for size, seconds in told.items() if seconds > 0}
        return self._middles
