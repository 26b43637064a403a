"""What a screen knows of each request, folded from the log."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field

from engine.events import Finished, Progress, RowRecord, Work
from engine.request import FinishReason, Request

TEXT_LIMIT = 8000  # characters of an output that panes keep


@dataclass(frozen=True, slots=True)
class RequestView:
    """One request at the moment of a snapshot; times in seconds on the engine's clock.

    Attributes:
        work: what it did in the last pass, None while it waits or once it has left.
        text: what was generated, its oldest part cut off where it is very long.
        text_start: characters cut off before `text`.
        num_delivered: tokens that have reached the client.
        num_computed: tokens in the cache after the last pass.
        num_in_pass: those of them that the last pass computed.
        num_cached: tokens that were in it already when the request was first admitted.
    """

    id: str
    label: str
    arrival: float
    num_prompt_tokens: int
    max_tokens: int
    num_output_tokens: int
    num_delivered: int
    num_computed: int
    num_in_pass: int
    num_preemptions: int
    num_cached: int
    work: Work | None
    reason: FinishReason | None
    message: str
    text: str
    text_start: int
    priority: int
    admitted_at: float | None
    first_delivery: float | None
    last_delivery: float | None
    worst_gap: float

    @property
    def num_left(self) -> int:
        """Output tokens that may come still."""
        return self.max_tokens - self.num_output_tokens

    @property
    def is_delivered(self) -> bool:
        """Whether the client has all that was generated."""
        return self.num_delivered >= self.num_output_tokens

    @property
    def ttft(self) -> float | None:
        """Seconds from arrival to the first delivery."""
        return None if self.first_delivery is None else self.first_delivery - self.arrival

    @property
    def e2e(self) -> float | None:
        """Seconds from arrival to the last delivery, once the request has ended."""
        is_done = self.reason is not None and self.last_delivery is not None and self.is_delivered
        return self.last_delivery - self.arrival if is_done and self.last_delivery else None


@dataclass(slots=True)
class Tracked:
    """The same, while it grows; whatever changes it forgets the view, which is made once.

    Attributes:
        number: counts the requests in the order in which they came.
        delayed_at: when it had waited as long as its timeout, since when it lets others pass.
    """

    request: Request
    number: int = 0
    delayed_at: float | None = None
    num_output_tokens: int = 0
    num_delivered: int = 0
    num_computed: int = 0
    num_in_pass: int = 0
    num_preemptions: int = 0
    num_cached: int = 0
    work: Work | None = None
    reason: FinishReason | None = None
    message: str = ""
    admitted_at: float | None = None
    first_delivery: float | None = None
    last_delivery: float | None = None
    worst_gap: float = 0.0
    _text: str = ""
    _start: int = 0
    _pieces: list[str] = field(default_factory=list)
    _view: RequestView | None = None

    def resume(self, progress: Progress) -> None:
        """Take over how far a request got."""
        self._view = None
        self.num_output_tokens = progress.num_output_tokens
        self.num_delivered = progress.num_delivered
        self.num_preemptions = progress.num_preemptions
        self.num_cached = progress.num_cached
        self.reason, self.message = progress.reason, progress.message
        self.admitted_at = progress.admitted_at
        self.first_delivery, self.last_delivery = progress.first_delivery, progress.last_delivery
        self.worst_gap = progress.worst_gap
        self._text, self._start = progress.text, 0
        self._pieces.clear()

    def generate(self, text: str) -> None:
        """Note a token, and the text that it brought."""
        self._view = None
        self.num_output_tokens += 1
        if text:
            self._pieces.append(text)

    def finish(self, event: Finished) -> None:
        """Note how it ended, and the text that was held back until then."""
        self._view = None
        self.reason, self.message = event.reason, event.message
        if event.text:
            self._pieces.append(event.text)

    def rest(self) -> None:
        """No part of the pass, until a row says otherwise."""
        self._view = self.work = None
        self.num_in_pass = 0

    def run(self, row: RowRecord, began: float) -> None:
        """Note its row in a pass, which began at that moment."""
        self._view = None
        self.work = row.work
        self.num_in_pass = row.num_tokens
        self.num_computed = row.num_computed + row.num_tokens
        if self.admitted_at is None:
            self.admitted_at = began

    def hold(self, num_computed: int) -> None:
        """Take over how much of it is in the cache."""
        self._view = None
        self.num_computed = num_computed

    def look_up(self, num_hit: int) -> None:
        """Note how much of it was in the cache already."""
        self._view = None
        self.num_cached = num_hit

    def preempt(self) -> None:
        """Note that it lost its slot and its cache."""
        self._view = self.work = None
        self.num_preemptions += 1
        self.num_computed = self.num_in_pass = 0

    def deliver(self, now: float, num_tokens: int) -> float | None:
        """Note a delivery; return the gap since the one before, if there was one."""
        self._view = None
        gap = None if self.last_delivery is None else now - self.last_delivery
        if self.first_delivery is None:
            self.first_delivery = now
        self.last_delivery = now
        self.num_delivered += num_tokens
        self.worst_gap = max(self.worst_gap, gap or 0.0)
        return gap

    def copy(self) -> Tracked:
        """A second one that grows on its own."""
        self._join()
        twin = copy(self)
        twin._pieces = []
        return twin

    def view(self) -> RequestView:
        """The request as it stands."""
        if self._view is None:
            self._view = self._draw_up()
        return self._view

    def _draw_up(self) -> RequestView:
        self._join()
        return RequestView(
            id=self.request.id,
            label=self.request.label,
            arrival=self.request.arrival,
            num_prompt_tokens=len(self.request.prompt_token_ids),
            max_tokens=self.request.sampling.max_tokens,
            num_output_tokens=self.num_output_tokens,
            num_delivered=self.num_delivered,
            num_computed=self.num_computed,
            num_in_pass=self.num_in_pass,
            num_preemptions=self.num_preemptions,
            num_cached=self.num_cached,
            work=self.work,
            reason=self.reason,
            message=self.message,
            text=self._text,
            text_start=self._start,
            priority=self.request.priority,
            admitted_at=self.admitted_at,
            first_delivery=self.first_delivery,
            last_delivery=self.last_delivery,
            worst_gap=self.worst_gap,
        )

    def _join(self) -> None:
        if self._pieces:
            self._text += "".join(self._pieces)
            self._pieces.clear()
        if len(self._text) > TEXT_LIMIT:
            cut = len(self._text) - TEXT_LIMIT // 2
            self._text, self._start = self._text[cut:], self._start + cut
