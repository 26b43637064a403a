"""`Served`: what became of each request of a run, for lists of the slowest ones."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from engine.events import Arrived, Delivered, Event, Finished, Token
from engine.metrics.timing import Timing
from engine.request import COMPLETE

NUM_SLOWEST = 20


@dataclass(frozen=True, slots=True)
class Served:
    """One request; latencies in seconds, None where there is none.

    Attributes:
        worst_gap: longest time between two deliveries.
    """

    id: str
    label: str
    num_prompt_tokens: int
    num_output_tokens: int
    ttft: float | None
    e2e: float | None
    worst_gap: float | None


class Requests:
    """Feeds on the events of one run; it is a sink of `tuiapp.running.headless`."""

    def __init__(self) -> None:
        self._timings: dict[str, Timing] = {}
        self._worst: dict[str, float] = {}
        self._ended: dict[str, float] = {}
        self._now = 0.0

    def write(self, events: Sequence[Event]) -> None:
        """Read on."""
        for event in events:
            self._now = event.time
            match event:
                case Arrived(request=request):
                    self._timings[request.id] = Timing.of(request)
                case Token() | Delivered() | Finished():
                    if timing := self._timings.get(event.request_id):
                        self._follow(event, timing)
                case _:
                    pass

    @property
    def tpots(self) -> array[float]:
        """Time per output token of every request that was answered in full, in seconds."""
        complete = (each.tpot for each in self._timings.values() if each.is_complete)
        return array("d", (tpot for tpot in complete if tpot is not None))

    @property
    def worst(self) -> str | None:
        """The request with the longest gap between two deliveries, if there is any."""
        return max(self._worst, key=self._worst.__getitem__, default=None)

    def slowest(self, count: int = NUM_SLOWEST) -> tuple[Served, ...]:
        """Those that took longest, the longest first; who still waits counts as long as so far."""
        ids = sorted(self._timings, key=self._slowness, reverse=True)
        return tuple(self._served(request_id) for request_id in ids[:count])

    def _slowness(self, request_id: str) -> float:
        timing = self._timings[request_id]
        end = self._ended.get(request_id, self._now) if timing.last is None else timing.last
        return end - timing.arrival

    def _served(self, request_id: str) -> Served:
        timing = self._timings[request_id]
        return Served(
            id=request_id,
            label=timing.label,
            num_prompt_tokens=timing.num_prompt_tokens,
            num_output_tokens=timing.num_generated,
            ttft=timing.ttft,
            e2e=timing.e2e,
            worst_gap=self._worst.get(request_id),
        )

    def _follow(self, event: Token | Delivered | Finished, timing: Timing) -> None:
        if isinstance(event, Finished) and event.reason not in COMPLETE:
            self._ended[event.request_id] = event.time
        gap = timing.follow(event)
        if gap is not None and gap > self._worst.get(event.request_id, 0.0):
            self._worst[event.request_id] = gap
