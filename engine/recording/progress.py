"""`LiveRequests`: how far each request got, folded from the events that are being recorded."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.blocks import Lookup
from engine.events import (
    Arrived,
    Checkpoint,
    Delivered,
    Event,
    Finished,
    Keyframe,
    Progress,
    Step,
    Token,
)
from engine.request import COMPLETE, FinishReason


@dataclass(slots=True)
class _Live:
    """A `Progress` while it grows."""

    pieces: list[str] = field(default_factory=list)
    num_output_tokens: int = 0
    num_delivered: int = 0
    num_preemptions: int = 0
    reason: FinishReason | None = None
    message: str = ""
    admitted_at: float | None = None
    first_delivery: float | None = None
    last_delivery: float | None = None
    worst_gap: float = 0.0
    num_cached: int = 0

    def deliver(self, event: Delivered) -> None:
        if self.last_delivery is None:
            self.first_delivery = event.time
        else:
            self.worst_gap = max(self.worst_gap, event.time - self.last_delivery)
        self.last_delivery = event.time
        self.num_delivered += event.num_tokens

    def freeze(self, request_id: str) -> Progress:
        return Progress(
            request_id=request_id,
            text="".join(self.pieces),
            num_output_tokens=self.num_output_tokens,
            num_delivered=self.num_delivered,
            num_preemptions=self.num_preemptions,
            reason=self.reason,
            message=self.message,
            admitted_at=self.admitted_at,
            first_delivery=self.first_delivery,
            last_delivery=self.last_delivery,
            worst_gap=self.worst_gap,
            num_cached=self.num_cached,
        )


class LiveRequests:
    """Follows requests from their arrival to the first keyframe without them."""

    def __init__(self) -> None:
        self._live: dict[str, _Live] = {}
        self._num_finished = 0
        self._num_preemptions = 0
        self._num_looked_up = self._num_hit = 0

    def feed(self, event: Event) -> None:
        """Read on."""
        match event:
            case Arrived(request=request):
                self._live[request.id] = _Live()
            case Token() | Delivered() | Finished():
                if live := self._live.get(event.request_id):
                    self._follow(event, live)
            case Step():
                self._feed_step(event)
            case _:
                pass

    def checkpoint(self, frame: Keyframe) -> Checkpoint:
        """Sum up the requests of a keyframe, and forget all others."""
        live = {request.id: self._live.get(request.id, _Live()) for request in frame.requests}
        self._live = live
        return Checkpoint(
            time=frame.time,
            num_finished=self._num_finished,
            num_preemptions=self._num_preemptions,
            progress=tuple(each.freeze(request_id) for request_id, each in live.items()),
            num_looked_up=self._num_looked_up,
            num_hit=self._num_hit,
        )

    def _follow(self, event: Token | Delivered | Finished, live: _Live) -> None:
        match event:
            case Token():
                live.num_output_tokens += 1
                live.pieces.append(event.text)
            case Delivered():
                live.deliver(event)
            case Finished():
                live.reason, live.message = event.reason, event.message
                live.pieces.append(event.text)
                self._num_finished += event.reason in COMPLETE

    def _feed_step(self, step: Step) -> None:
        for change in step.blocks:
            if change.lookup and not change.lookup.is_resumed:
                self._look_up(change.request_id, change.lookup)
        self._num_preemptions += len(step.preempted)
        for lost in step.preempted:
            if live := self._live.get(lost.request_id):
                live.num_preemptions += 1
        for row in step.rows:
            live = self._live.get(row.request_id)
            if live and live.admitted_at is None:
                live.admitted_at = step.time - step.duration

    def _look_up(self, request_id: str, lookup: Lookup) -> None:
        self._num_looked_up += lookup.num_tokens
        self._num_hit += lookup.num_hit
        if live := self._live.get(request_id):
            live.num_cached = lookup.num_hit
