"""`Profile`: where the time of the last passes went, read from the log as it grows."""

from __future__ import annotations

from engine.log import EventLog
from engine.metrics.host_time import Cycle, HostReport, HostTime
from tuiapp.view.reading import read_on

NUM_CYCLES = 240  # some ten seconds of passes: what the numbers are of
MOST_EVENTS = 20_000  # read of what happened before the first look


class Profile:
    """Reads the log on its own, from shortly before it is first asked.

    Args:
        until: position in the log at which to stop for good; None follows the log.
    """

    def __init__(self, log: EventLog, until: int | None = None) -> None:
        self._log = log
        self._until = until
        end = len(log) if until is None else until
        self._position = max(log.first, end - MOST_EVENTS)
        self._time = HostTime(NUM_CYCLES)

    def poll(self) -> HostReport | None:
        """Read what is new; return the sums, None before there is a whole cycle."""
        events, self._position = read_on(self._log, self._position, self._until)
        self._time.feed(events)
        return self._time.report()

    def cycles(self) -> list[Cycle]:
        """The last cycles, oldest first."""
        return list(self._time.cycles)


def stack(cycle: Cycle, top: float, height: int) -> list[int]:
    """Which phase, by its index, each cell of a column shows, from the bottom up.

    Args:
        top: seconds that the whole height stands for; what is above it is cut off.

    Returns:
        Indices of phases; fewer than `height` where the cycle was shorter than `top`.
    """
    if top <= 0:
        return []
    cells: list[int] = []
    seconds = 0.0
    for index, part in enumerate(cycle):
        seconds += part
        cells += [index] * (round(min(1.0, seconds / top) * height) - len(cells))
    return cells
