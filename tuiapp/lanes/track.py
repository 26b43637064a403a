"""`Track`: what the slots of one run did over time, and its state at any moment of it.

Folded from the run's events; all times are seconds since the run began.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.events import Arrived, Delivered, Event, Finished, RowRecord, Step, Token, Work
from engine.request import FinishReason
from tuiapp.view.columns import PHASES
from tuiapp.view.phases import Phase

DROPPED = (FinishReason.ABORT, FinishReason.REJECTED, FinishReason.ERROR)


@dataclass(slots=True)
class Stretch:
    """Like work of one request in one slot, pass after pass."""

    slot: int
    request_id: str
    phase: Phase
    began: float
    ended: float


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment in the life of a request: its last token, or the loss of its slot."""

    slot: int
    request_id: str
    phase: Phase
    time: float


@dataclass(slots=True)
class Passage:
    """One request through the run.

    Attributes:
        stretches: what it did, in order; it may have changed its slot.
        first, last: when its first and its latest tokens reached the client.
        is_over: whether it has ended, and its client has all that it will get.
    """

    request_id: str
    label: str
    arrival: float
    stretches: list[Stretch] = field(default_factory=list)
    first: float | None = None
    last: float | None = None
    num_made: int = 0
    num_delivered: int = 0
    reason: FinishReason | None = None

    @property
    def is_over(self) -> bool:
        return self.reason in DROPPED or (
            self.reason is not None and self.num_delivered == self.num_made
        )


@dataclass(frozen=True, slots=True)
class Moment:
    """A run at one moment.

    Attributes:
        time: seconds since the run began.
        slots: what each slot does, None where it is free.
        num_made, num_delivered: output tokens so far, and those that the clients have.
        num_ended: requests that have ended, for whatever reason.
        num_passes: forward passes that are over.
    """

    time: float
    slots: tuple[Stretch | None, ...]
    num_waiting: int
    num_made: int
    num_delivered: int
    num_ended: int
    num_passes: int

    @property
    def num_working(self) -> int:
        return sum(s is not None and s.phase in (Phase.PREFILL, Phase.DECODE) for s in self.slots)

    @property
    def num_held(self) -> int:
        return sum(s is not None and s.phase is Phase.HELD for s in self.slots)


class Track:
    """Feeds on the events of one run.

    Args:
        origin: seconds on the engine's clock when the run began.

    Attributes:
        slots: stretches by slot, in order.
        marks: last tokens and evictions, in order.
        passages: by request, in the order of arrival.
        ended: seconds until the last thing that happened.
    """

    def __init__(self, origin: float = 0.0) -> None:
        self.origin = origin
        self.slots: list[list[Stretch]] = []
        self.marks: list[Mark] = []
        self.passages: dict[str, Passage] = {}
        self.ended = 0.0
        self._held: dict[int, str] = {}  # who was in which slot in the last pass
        self._passes, self._made, self._ends = array("d"), array("d"), array("d")
        self._deliveries: tuple[array[float], array[int]] = (array("d"), array("q"))
        self._queue: tuple[array[float], array[int]] = (array("d"), array("q"))

    @property
    def num_ended(self) -> int:
        """Requests that have ended so far."""
        return len(self._ends)

    def write(self, events: Sequence[Event]) -> None:
        """Read on."""
        for event in events:
            match event:
                case Step():
                    self._on_step(event)
                case Token():
                    self._made.append(self._at(event.time))
                    self.passages[event.request_id].num_made += 1
                case Delivered():
                    self._on_delivered(event)
                case Arrived():
                    self._on_arrived(event)
                case Finished():
                    self._on_finished(event)
                case _:
                    pass

    def moment(self, time: float) -> Moment:
        """The run at a moment."""
        times, totals = self._deliveries
        at = bisect_right(times, time)
        moments, lengths = self._queue
        queued = bisect_right(moments, time)
        return Moment(
            time=time,
            slots=tuple(_find(stretches, time) for stretches in self.slots),
            num_waiting=lengths[queued - 1] if queued else 0,
            num_made=bisect_right(self._made, time),
            num_delivered=totals[at - 1] if at else 0,
            num_ended=bisect_right(self._ends, time),
            num_passes=bisect_right(self._passes, time),
        )

    def end_of_pass(self, number: int) -> float:
        """When a forward pass, counted from 1, was over."""
        return self._passes[max(0, min(len(self._passes), number) - 1)]

    def _at(self, time: float) -> float:
        moment = max(0.0, time - self.origin)
        self.ended = max(self.ended, moment)
        return moment

    def _on_step(self, step: Step) -> None:
        ended = self._at(step.time)
        began = max(0.0, ended - step.duration)
        for lost in step.preempted:
            self.marks.append(Mark(lost.slot, lost.request_id, Phase.EVICTED, began))
            self._held.pop(lost.slot, None)
        for row in step.rows:
            self._extend(row, began, ended)
        self._held = {row.slot: row.request_id for row in step.rows}
        if step.rows:
            self._passes.append(ended)
        self._note_queue(began, step.num_waiting)

    def _extend(self, row: RowRecord, began: float, ended: float) -> None:
        while row.slot >= len(self.slots):
            self.slots.append([])
        stretches = self.slots[row.slot]
        is_same = self._held.get(row.slot) == row.request_id
        last, phase = stretches[-1] if is_same else None, PHASES[row.work]
        if last and last.phase is phase:
            last.ended = ended
        else:
            since = last.ended if last else began
            new = Stretch(row.slot, row.request_id, phase, since, ended)
            stretches.append(new)
            self.passages[row.request_id].stretches.append(new)
        if row.finished and row.work is not Work.HELD:
            self.marks.append(Mark(row.slot, row.request_id, Phase.LAST, ended))

    def _on_arrived(self, event: Arrived) -> None:
        request = event.request
        arrival = max(0.0, request.arrival - self.origin)
        self.passages[request.id] = Passage(request.id, request.label, arrival)
        self._note_queue(self._at(event.time), self._num_queued + 1)

    def _on_delivered(self, event: Delivered) -> None:
        times, totals = self._deliveries
        passage, at = self.passages[event.request_id], self._at(event.time)
        passage.num_delivered += event.num_tokens
        passage.first = at if passage.first is None else passage.first
        passage.last = at
        times.append(at)
        totals.append((totals[-1] if totals else 0) + event.num_tokens)

    def _on_finished(self, event: Finished) -> None:
        passage = self.passages[event.request_id]
        at = self._at(event.time)
        passage.reason = event.reason
        self._ends.append(at)
        if event.reason in DROPPED and not passage.stretches:
            self._note_queue(at, max(0, self._num_queued - 1))

    @property
    def _num_queued(self) -> int:
        lengths = self._queue[1]
        return lengths[-1] if lengths else 0

    def _note_queue(self, at: float, length: int) -> None:
        """Note how many wait, where that has changed."""
        if length != self._num_queued or not self._queue[0]:
            self._queue[0].append(at)
            self._queue[1].append(length)


def _find(stretches: Sequence[Stretch], time: float) -> Stretch | None:
    """What goes on at a moment, or has just ended."""
    at = bisect_right(stretches, time, key=lambda stretch: stretch.began)
    found = stretches[at - 1] if at else None
    return found if found and time <= found.ended else None


def nearest(track: Track, slot: int, time: float | None) -> Stretch | None:
    """Who ran nearest to a moment, of those in the nearest slot; None where nobody ran yet.

    Args:
        time: in seconds; None is after all that ran.
    """

    def distance(found: tuple[int, Stretch]) -> tuple[float, int]:
        at, stretch = found
        if time is None:
            return -stretch.ended, abs(at - slot)
        return max(0.0, stretch.began - time, time - stretch.ended), abs(at - slot)

    ran = [(at, stretch) for at, each in enumerate(track.slots) for stretch in each]
    return min(ran, key=distance)[1] if ran else None
