"""`RequestSpans`: requests as async spans of a trace, from arrival to the end of the answer."""

from __future__ import annotations

from dataclasses import dataclass

from engine.events import Arrived, Delivered, Finished, Token
from engine.request import COMPLETE
from tuiapp.export.trace import Process, Record


@dataclass(slots=True)
class _Open:
    """A request whose span has no end yet.

    Attributes:
        num_pending: tokens generated that its client has not got.
        is_finished: generated in full; only the delivery is to come.
    """

    last: float
    num_pending: int = 0
    is_finished: bool = False


class RequestSpans:
    """Follows each request; an answer that comes with its batch ends when that is delivered."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._open: dict[str, _Open] = {}

    def follow(self, event: Arrived | Token | Delivered | Finished) -> list[Record]:
        """What an event adds to the trace."""
        if isinstance(event, Arrived):
            return self._begin(event)
        request = self._open.get(event.request_id)
        if request is None:
            return []
        request.last = event.time
        match event:
            case Token():
                request.num_pending += 1
                return []
            case Delivered():
                return self._deliver(event, request)
            case Finished():
                return self._finish(event, request)

    def close(self) -> list[Record]:
        """End the spans of requests that never got an answer in full."""
        return [record for key in list(self._open) for record in self._end(key)]

    def _begin(self, event: Arrived) -> list[Record]:
        request = event.request
        self._open[request.id] = _Open(event.time)
        args = {
            "class": request.label,
            "prompt_tokens": len(request.prompt_token_ids),
            "max_tokens": request.sampling.max_tokens,
        }
        return [self._process.span("b", request.id, request.arrival, args)]

    def _deliver(self, event: Delivered, request: _Open) -> list[Record]:
        request.num_pending -= event.num_tokens
        args = {"delivered_tokens": event.num_tokens}
        records = [self._process.span("n", event.request_id, event.time, args)]
        is_over = request.is_finished and not request.num_pending
        return [*records, *self._end(event.request_id)] if is_over else records

    def _finish(self, event: Finished, request: _Open) -> list[Record]:
        args = {"finish_reason": event.reason.value, "message": event.message}
        records = [self._process.span("n", event.request_id, event.time, args)]
        request.is_finished = True
        is_to_come = request.num_pending > 0 and event.reason in COMPLETE
        return records if is_to_come else [*records, *self._end(event.request_id)]

    def _end(self, request_id: str) -> list[Record]:
        request = self._open.pop(request_id)
        return [self._process.span("e", request_id, request.last, {})]
