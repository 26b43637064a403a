"""`Roster`: the requests that are remembered, and where each of them is.

It waits in line, holds a slot, or has left; who left a slot last is shown there until the next
one comes. An engine that runs for weeks is remembered for some hundreds of requests back.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence

from engine.events import Finished, Keyframe, RowRecord, Step, Work
from engine.request import COMPLETE, Request
from engine.settings import EngineSettings
from tuiapp.view.line import stand_in_line
from tuiapp.view.tracked import RequestView, Tracked

NUM_REMEMBERED = 400
NUM_QUEUE_SHOWN = 64
COMPUTING = (Work.PREFILL, Work.DECODE)
COPIED = 40  # entries that a copy of one live request is worth


class Roster:
    """Moves requests from place to place, as events tell of it."""

    def __init__(self) -> None:
        self._requests: OrderedDict[str, Tracked] = OrderedDict()
        self._waiting: OrderedDict[str, None] = OrderedDict()  # first come, the preempted in front
        self._slots: dict[int, str] = {}
        self._left: dict[int, RequestView] = {}
        self._num_came = 0

    def __getitem__(self, request_id: str) -> Tracked:
        return self._requests[request_id]

    def find(self, request_id: str) -> Tracked | None:
        """A request that is still remembered, or None."""
        return self._requests.get(request_id)

    @property
    def request_ids(self) -> tuple[str, ...]:
        """Of all that are remembered, by arrival."""
        return tuple(self._requests)

    @property
    def num_waiting(self) -> int:
        return len(self._waiting)

    @property
    def num_slots(self) -> int:
        """Slots up to the highest that is held."""
        return 1 + max(self._slots, default=-1)

    @property
    def num_busy(self) -> int:
        """Slots whose requests the last pass computed."""
        held = [self._requests[key] for key in self._slots.values()]
        return sum(each.reason is None and each.work in COMPUTING for each in held)

    @property
    def num_entries(self) -> int:
        """Entries of all that a copy holds: a measure of its memory."""
        live = len(self._waiting) + len(self._slots)
        return len(self._requests) + COPIED * live

    def copy(self) -> Roster:
        """A second one that changes on its own; what changes no more is shared."""
        twin, held = Roster(), set(self._slots.values())
        twin._requests = OrderedDict(
            (key, tracked if tracked.reason and key not in held else tracked.copy())
            for key, tracked in self._requests.items()
        )
        twin._waiting = self._waiting.copy()
        twin._slots, twin._left = self._slots.copy(), self._left.copy()
        twin._num_came = self._num_came
        return twin

    def arrive(self, request: Request) -> None:
        """Put a new request at the end of the line."""
        self._num_came += 1
        self._requests[request.id] = Tracked(request, self._num_came)
        self._waiting[request.id] = None

    def preempt(self, request_id: str) -> None:
        """Put a request that lost its slot at the front of the line."""
        tracked = self._requests.get(request_id)
        if tracked is None or tracked.reason:  # its last token was under way
            return
        tracked.preempt()
        self._waiting[request_id] = None
        self._waiting.move_to_end(request_id, last=False)

    def finish(self, event: Finished) -> None:
        """Note an end; who was not served to the end leaves its slot at once."""
        tracked = self._requests[event.request_id]
        tracked.finish(event)
        self._waiting.pop(event.request_id, None)
        if event.reason in COMPLETE:
            return
        tracked.rest()
        self._vacate([slot for slot, key in self._slots.items() if key == event.request_id])

    def run(self, step: Step) -> None:
        """Hand the slots to those who had them in a pass."""
        for request_id in self._slots.values():
            if request_id in self._requests:
                self._requests[request_id].rest()
        # A pass that was under way when somebody left may tell of who is forgotten by now.
        slots = {row.slot: row.request_id for row in step.rows if row.request_id in self._requests}
        self._vacate(sorted(self._slots.keys() - slots.keys()))
        self._leave_no_double(slots)
        self._slots = slots
        for row in step.rows:
            self._on_row(row, began=step.time - step.duration)

    def queue(self, waiting: Iterable[str]) -> None:
        """Take over who waits."""
        self._waiting = OrderedDict.fromkeys(waiting)

    def resume(self, frame: Keyframe) -> None:
        """Begin with what a keyframe says."""
        self.queue(frame.waiting)
        numbered = enumerate(frame.requests)
        self._requests = OrderedDict((each.id, Tracked(each, at)) for at, each in numbered)
        self._num_came = len(frame.requests)
        for holding in frame.running:
            self._slots[holding.slot] = holding.request_id
            self._requests[holding.request_id].hold(holding.num_computed)

    def forget(self) -> None:
        """Drop the oldest requests that have ended, beyond a few hundred."""
        excess = len(self._requests) - NUM_REMEMBERED - len(self._waiting) - len(self._slots)
        if excess <= 0:
            return
        held = set(self._slots.values())
        ended = [key for key, t in self._requests.items() if t.reason and key not in held]
        for key in ended[:excess]:
            del self._requests[key]

    def holders(self, num_slots: int) -> tuple[RequestView | None, ...]:
        """Who holds each slot."""
        keys = (self._slots.get(slot) for slot in range(num_slots))
        return tuple(self._requests[key].view() if key else None for key in keys)

    def left(self, num_slots: int) -> tuple[RequestView | None, ...]:
        """Who held each slot last."""
        return tuple(self._left.get(slot) for slot in range(num_slots))

    def line(self, settings: EngineSettings, now: float) -> tuple[str, ...]:
        """The ids of all who wait, in the order of the queue."""
        return tuple(stand_in_line(self._waiting, self._requests, settings, now))

    def front(self, line: Sequence[str]) -> tuple[RequestView, ...]:
        """The first of a line, as many as a screen may show."""
        return tuple(self._requests[key].view() for key in line[:NUM_QUEUE_SHOWN])

    def _vacate(self, slots: Iterable[int]) -> None:
        """Keep the last view of those who leave their slots."""
        for slot in slots:
            if tracked := self._requests.get(self._slots.pop(slot)):
                self._left[slot] = tracked.view()

    def _leave_no_double(self, slots: dict[int, str]) -> None:
        """Of who came back in another slot, let the old one tell nothing any more."""
        came = {key for slot, key in slots.items() if self._slots.get(slot) != key}
        for slot in [slot for slot, view in self._left.items() if view.id in came]:
            del self._left[slot]

    def _on_row(self, row: RowRecord, began: float) -> None:
        tracked = self._requests.get(row.request_id)
        if tracked is not None:
            tracked.run(row, began)
            self._waiting.pop(row.request_id, None)
