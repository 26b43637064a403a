"""`LifeFold`: from the events of one request, and the passes around it, to its `Life`."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.blocks import BlockChange
from engine.events import Delivered, Event, Finished, RowRecord, Step, Token, Work
from engine.plan import SkipReason
from engine.request import COMPLETE, Request
from tuiapp.explain.gap_fold import GapFold
from tuiapp.explain.life import Life
from tuiapp.explain.stages import Span, Stage

FOR_A_BATCH = (SkipReason.COMPANY, SkipReason.POLICY)
STAGES = {
    Work.PREFILL: Stage.PREFILL,
    Work.DECODE: Stage.DECODE,
    Work.HELD: Stage.HELD,
    Work.STALLED: Stage.STALLED,
}


@dataclass(slots=True)
class Spans:
    """Spans in a row: where one begins, the one before ends.

    So the time between two passes, in which the scheduler writes down the last one, counts to
    the stage of the earlier one.
    """

    start: float
    stage: Stage | None = Stage.QUEUED
    _closed: list[Span] = field(default_factory=list)
    _num_passes: int = 0
    _num_tokens: int = 0

    def enter(self, stage: Stage, at: float) -> None:
        """Go over to a stage, or stay in it."""
        if stage is self.stage:
            return
        self.leave(at)
        self.stage, self.start = stage, max(at, self.start)

    def leave(self, at: float) -> None:
        """End the stage that goes on."""
        if self.stage and at > self.start:
            self._closed.append(self._open_until(at))
            self.start = at
        self.stage = None
        self._num_passes = self._num_tokens = 0

    def count(self, num_tokens: int) -> None:
        """Note a pass in the stage that goes on."""
        self._num_passes += 1
        self._num_tokens += num_tokens

    def until(self, now: float) -> tuple[Span, ...]:
        """All of them, the last one as long as it is by now."""
        if self.stage and now > self.start:
            return (*self._closed, self._open_until(now))
        return tuple(self._closed)

    def _open_until(self, at: float) -> Span:
        assert self.stage is not None, "no stage goes on"
        return Span(self.stage, self.start, at, self._num_passes, self._num_tokens)


class LifeFold:
    """Follows one request; every event after its arrival is to be fed, in order.

    Who follows many at once feeds passes by `feed_pass`, having looked once who is in them.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._spans = Spans(request.arrival)
        self._gaps = GapFold(request.id)
        self._row: RowRecord | None = None  # of the last pass
        self._passes: tuple[int, int] | None = None  # first and last
        self._deliveries: list[float] = []
        self._blocks: list[tuple[float, int]] = []
        self._block_table: list[int] = []
        self._num_chunks = self._num_prefilled = self._num_cached = 0
        self._num_lost = 0  # tokens that have to be computed again
        self._num_output_tokens = self._num_delivered = self._num_preemptions = 0
        self._ended: Finished | None = None
        self._pieces: list[str] = []
        self.is_over = False

    def feed(self, event: Event) -> None:
        """Take in an event; those of other requests are passed over."""
        match event:
            case Step():
                row = next((row for row in event.rows if row.request_id == self._request.id), None)
                self.feed_pass(event, row, is_moved=True)
            case Token() if event.request_id == self._request.id:
                self._num_output_tokens += 1
                self._pieces.append(event.text)
            case Delivered() if event.request_id == self._request.id:
                self._num_delivered += event.num_tokens
                self._deliveries.append(event.time)
                self._gaps.deliver(event.time)
            case Finished() if event.request_id == self._request.id:
                self._on_finished(event)
            case _:
                pass

    def feed_pass(self, step: Step, row: RowRecord | None, *, is_moved: bool) -> None:
        """Take in a pass.

        Args:
            row: that of the request, if it held a slot.
            is_moved: whether blocks or slots that changed hands may have been the request's.
        """
        began = step.time - step.duration
        if is_moved:
            self._on_moves(step, began)
        self._gaps.feed(step, row)
        if row:
            self._on_row(row, step)
        elif self._ended is None:
            self._wait(step, began)
        else:
            self._spans.leave(began)
            self.is_over = True

    def life(self, now: float) -> Life:
        """What is known, at a moment no earlier than the last event."""
        spans = self._spans.until(now)
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return Life(
            request=self._request,
            spans=spans,
            end=spans[-1].end if spans else self._request.arrival,
            slot=self._row.slot if self._row else None,
            first_pass=self._passes[0] if self._passes else None,
            last_pass=self._passes[1] if self._passes else None,
            deliveries=tuple(self._deliveries),
            gaps=tuple(self._gaps.gaps),
            worst_gaps=self._gaps.worst(),
            blocks=tuple(self._blocks),
            block_table=tuple(self._block_table),
            num_cached=self._num_cached,
            num_chunks=self._num_chunks,
            num_prefilled=self._num_prefilled,
            num_output_tokens=self._num_output_tokens,
            num_delivered=self._num_delivered,
            num_preemptions=self._num_preemptions,
            reason=self._ended.reason if self._ended else None,
            message=self._ended.message if self._ended else "",
            text="".join(self._pieces),
        )

    def _on_finished(self, event: Finished) -> None:
        self._ended = event
        self._pieces.append(event.text)
        if event.reason not in COMPLETE:  # it leaves at once, whatever its batch does
            self._spans.leave(event.time)

    def _on_moves(self, step: Step, began: float) -> None:
        """What the request was given or lost before a pass."""
        for change in step.blocks:
            if change.request_id == self._request.id:
                self._move_blocks(change, began)
        for lost in step.preempted:
            if lost.request_id == self._request.id:
                self._num_preemptions += 1
                self._num_lost = max(self._num_lost, lost.num_lost)
                self._spans.enter(Stage.EVICTED, began)

    def _on_row(self, row: RowRecord, step: Step) -> None:
        """The request held a slot during a pass."""
        self._row = row
        number = step.index + 1
        self._passes = (self._passes[0] if self._passes else number, number)
        began = step.time - step.duration
        if row.work is not Work.HELD:
            self._spans.enter(self._stage(row), began)
            self._spans.count(row.num_tokens)
        elif self._ended and self._ended.reason in COMPLETE:
            self._spans.enter(Stage.HELD, began)
            self._spans.count(0)
        if row.finished and self._ended:
            self._spans.leave(self._ended.time)
            if self._num_delivered < self._num_output_tokens:
                self._spans.enter(Stage.HELD, self._ended.time)

    def _stage(self, row: RowRecord) -> Stage:
        if row.work is not Work.PREFILL:
            return STAGES[row.work]
        if row.num_computed < self._num_lost:
            return Stage.REDONE
        if not row.total_tokens > len(self._request.prompt_token_ids):
            self._num_chunks += 1
            self._num_prefilled += row.num_tokens
        return Stage.PREFILL

    def _wait(self, step: Step, began: float) -> None:
        """The request stood in the queue while a pass was planned."""
        before = self._spans.stage
        if before is not Stage.EVICTED:
            stage = _stage_of_wait(step, before)
            if stage is not before:
                self._spans.enter(stage, began)
        if step.rows:
            self._spans.count(0)

    def _move_blocks(self, change: BlockChange, at: float) -> None:
        if change.released:
            self._block_table.clear()
        if change.lookup and not change.lookup.is_resumed:
            self._num_cached = change.lookup.num_hit
        self._block_table += change.taken
        self._blocks.append((at, len(self._block_table)))


def _stage_of_wait(step: Step, before: Stage | None) -> Stage:
    """First come, first served: what stops the head of the queue stops all behind it."""
    if not step.skipped:
        return before or Stage.QUEUED
    is_for_a_batch = step.is_rectangular or step.skipped[0].reason in FOR_A_BATCH
    return Stage.BATCH_WAIT if is_for_a_batch else Stage.QUEUED
