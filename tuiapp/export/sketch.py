"""`Sketch`: what a page draws of a run, folded from its events.

The timeline is a raster of moments by slots that holds how long each slot did what; when a run
outgrows it, pairs of moments become one, as when a camera zooms out. Latencies are kept whole, and
so grow by eight bytes a delivery.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.events import Arrived, Delivered, Event, Finished, Step, Token, Work
from engine.metrics.timing import Timing

NUM_BINS = 480
WORKS = tuple(Work)
FREE = len(WORKS)


@dataclass(slots=True)
class Raster:
    """How long each slot did each work in each moment.

    Attributes:
        began: seconds on the engine's clock at the left edge; None before the first pass.
        width: seconds a moment.
        slots: for each slot, moments x works seconds, flat.
    """

    began: float | None = None
    width: float = 1e-3
    slots: list[array[float]] = field(default_factory=list)

    def add(self, slot: int, work: Work, began: float, ended: float) -> None:
        """Note what a slot did from one moment to another."""
        if self.began is None:
            self.began = began
        while ended - self.began >= self.width * NUM_BINS:
            self._zoom_out()
        while slot >= len(self.slots):
            self.slots.append(array("d", bytes(8 * NUM_BINS * len(WORKS))))
        cells, kind = self.slots[slot], WORKS.index(work)
        at = began - self.began
        end = ended - self.began
        index = max(0, int(at / self.width))
        while at < end and index < NUM_BINS:
            until = min(end, (index + 1) * self.width)
            cells[index * len(WORKS) + kind] += max(0.0, until - at)
            at, index = until, index + 1

    def stretches(self, slot: int) -> list[tuple[int, int, Work]]:
        """Runs of moments in which the slot did mostly the same: first, number, what."""
        found: list[tuple[int, int, Work]] = []
        for index in range(NUM_BINS):
            work = self._mostly(slot, index)
            if work is None:
                continue
            if found and found[-1][2] is work and sum(found[-1][:2]) == index:
                found[-1] = (found[-1][0], found[-1][1] + 1, work)
            else:
                found.append((index, 1, work))
        return found

    def _mostly(self, slot: int, index: int) -> Work | None:
        """What it did most of the moment; None where it was free for most of it."""
        spent = self.slots[slot][index * len(WORKS) : (index + 1) * len(WORKS)]
        if sum(spent) < self.width / 2:
            return None
        return WORKS[max(range(len(WORKS)), key=spent.__getitem__)]

    def _zoom_out(self) -> None:
        """Let every moment last twice as long."""
        self.width *= 2
        row = len(WORKS)
        for cells in self.slots:
            merged = array("d", bytes(8 * len(cells)))
            for index in range(NUM_BINS):
                for kind in range(row):
                    merged[index // 2 * row + kind] += cells[index * row + kind]
            cells[:] = merged


class Sketch:
    """Feeds on the events of one run; it is a sink of `tuiapp.running.headless`.

    Attributes:
        ttfts, e2es, gaps: latencies in seconds, of all that were served.
    """

    def __init__(self) -> None:
        self.raster = Raster()
        self.ttfts, self.e2es, self.gaps = array("d"), array("d"), array("d")
        self._timings: dict[str, Timing] = {}

    def write(self, events: Sequence[Event]) -> None:
        for event in events:
            match event:
                case Step():
                    for row in event.rows:
                        began = event.time - event.duration
                        self.raster.add(row.slot, row.work, began, event.time)
                case Arrived(request=request):
                    self._timings[request.id] = Timing.of(request)
                case Token() | Delivered() | Finished():
                    if timing := self._timings.get(event.request_id):
                        self._follow(event, timing)
                case _:
                    pass

    def _follow(self, event: Token | Delivered | Finished, timing: Timing) -> None:
        is_waiting = timing.first is None
        if (gap := timing.follow(event)) is not None:
            self.gaps.append(gap)
        if is_waiting and timing.ttft is not None:
            self.ttfts.append(timing.ttft)
        if timing.e2e is not None:
            self.e2es.append(timing.e2e)
            del self._timings[event.request_id]
