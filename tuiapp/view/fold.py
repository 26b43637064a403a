"""`Fold`: what the events of a run come to, and the frame that shows it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from copy import copy
from typing import assert_never

from engine.blocks import BlockChange
from engine.events import (
    Arrived,
    Checkpoint,
    ClientEvent,
    Configured,
    Delivered,
    EngineEvent,
    EngineInfo,
    Event,
    Failed,
    Finished,
    Gauges,
    Keyframe,
    Noted,
    Played,
    Ready,
    Refused,
    Step,
    Token,
)
from engine.plan import Skip
from engine.request import COMPLETE, FinishReason
from engine.settings import EngineSettings
from tuiapp.view.columns import Column, make_column
from tuiapp.view.kv_book import KvBook
from tuiapp.view.roster import Roster
from tuiapp.view.snapshot import Meters, Notice, Snapshot
from tuiapp.view.windows import NUM_GAPS, Windows

NUM_COLUMNS = 512
NUM_NOTICES = 20


class Fold:
    """The state of a run after the events that were fed, in their order.

    Args:
        info: what runs, where the events to come do not begin with it.

    Attributes:
        requests: all that are remembered.
        num_passes: forward passes so far.
    """

    def __init__(self, info: EngineInfo | None = None) -> None:
        self.info = info
        self.requests = Roster()
        self.num_passes = 0
        self._time = 0.0
        self._settings = EngineSettings()
        self._columns: deque[Column] = deque(maxlen=NUM_COLUMNS)
        self._skipped: tuple[Skip, ...] = ()
        self._kv = KvBook()
        self._windows = Windows()
        self._gauges: Gauges | None = None
        self._last_preempted: str | None = None
        self._num_finished = 0
        self._num_preemptions = 0
        self._notices: deque[Notice] = deque(maxlen=NUM_NOTICES)
        self._num_notices = 0
        self._num_played = 0

    @property
    def num_entries(self) -> int:
        """Entries of all that a copy holds: a measure of its memory."""
        return len(self._kv.owners) + self.requests.num_entries + NUM_COLUMNS + NUM_GAPS

    def copy(self) -> Fold:
        """A second one that goes on by itself; what changes no more is shared."""
        twin = copy(self)
        twin.requests = self.requests.copy()
        twin._columns, twin._notices = self._columns.copy(), self._notices.copy()
        twin._kv = self._kv.copy()
        twin._windows = self._windows.copy()
        return twin

    def feed(self, events: Iterable[Event]) -> None:
        """Take in what happened next."""
        for event in events:
            if event.time > self._time:
                self._time = event.time
            if isinstance(event, ClientEvent):
                self._fold_client(event)
            else:
                self._fold_engine(event)
        self.requests.forget()

    def snapshot(self, now: float) -> Snapshot:
        """The frame of what was fed, no earlier than its last event."""
        self._time = max(self._time, now)
        num_slots = max(self._settings.num_slots, self.requests.num_slots)
        line = self.requests.line(self._settings, self._time)
        return Snapshot(
            time=self._time,
            num_passes=self.num_passes,
            info=self.info,
            settings=self._settings,
            columns=tuple(self._columns),
            slots=self.requests.holders(num_slots),
            left=self.requests.left(num_slots),
            waiting=self.requests.front(line),
            line=line,
            skipped=self._skipped,
            block_owners=tuple(self._kv.owners),
            block_sharing=self._kv.sharing,
            cached_blocks=frozenset(self._kv.cached),
            meters=self._meters(),
            gauges=self._gauges,
            last_preempted=self._last_preempted,
            notices=tuple(self._notices),
            num_notices=self._num_notices,
            num_played=self._num_played,
        )

    def _fold_client(self, event: ClientEvent) -> None:
        match event:
            case Token():
                self.requests[event.request_id].generate(event.text)
            case Delivered():
                self._on_delivered(event)
            case Arrived(_, request):
                self.requests.arrive(request)
            case Finished():
                self._on_finished(event)
            case Refused(_, _, message):
                self._notify(Notice(message, is_refusal=True))
            case _:
                assert_never(event)

    def _fold_engine(self, event: EngineEvent) -> None:
        match event:
            case Step():
                self._on_step(event)
            case Ready(_, info):
                self.info = info
            case Configured(_, settings):
                self._on_configured(settings)
            case Keyframe() | Checkpoint():
                self._resume(event)
            case Gauges():
                self._gauges = event
            case Failed() | Noted():
                self._notify(_notice(event))
            case Played():
                self._num_played += 1
            case _:
                assert_never(event)

    def _on_delivered(self, event: Delivered) -> None:
        tracked = self.requests[event.request_id]
        gap = tracked.deliver(event.time, event.num_tokens)
        if gap is None:
            self._windows.ttfts.append(event.time - tracked.request.arrival)
        else:
            self._windows.gaps.append(gap)

    def _on_finished(self, event: Finished) -> None:
        self.requests.finish(event)
        if event.reason in COMPLETE:
            self._num_finished += 1
        elif event.reason is FinishReason.REJECTED:
            message = f"{event.request_id} refused: {event.message}"
            self._notify(Notice(message, is_refusal=True))

    def _on_step(self, step: Step) -> None:
        for change in step.blocks:
            self._move_blocks(change)
        for lost in step.preempted:
            self._num_preemptions += 1
            self._last_preempted = lost.request_id
            self.requests.preempt(lost.request_id)
        self.requests.run(step)
        self._skipped = step.skipped
        if step.rows:
            self.num_passes = step.index + 1
        self._windows.add_step(step)
        if step.rows or step.preempted:
            self._columns.append(make_column(step))

    def _move_blocks(self, change: BlockChange) -> None:
        self._kv.move(change)
        tracked = self.requests.find(change.request_id)  # None if it is forgotten by now
        if tracked and change.lookup and not change.lookup.is_resumed:
            tracked.look_up(change.lookup.num_hit)

    def _on_configured(self, settings: EngineSettings) -> None:
        old, self._settings = self._settings, settings
        if (old.batcher, old.delivery) != (settings.batcher, settings.delivery):
            self._windows.clear_latencies()
        num_blocks = self.info.num_blocks(settings) if self.info else 0
        if settings.keeps_cache(old) and num_blocks == len(self._kv.owners):
            return
        counts = self._kv.num_looked_up, self._kv.num_hit
        self._kv = KvBook(num_blocks, settings.block_size)
        self._kv.num_looked_up, self._kv.num_hit = counts

    def _resume(self, event: Keyframe | Checkpoint) -> None:
        if isinstance(event, Keyframe):
            self._on_keyframe(event)
        else:
            self._on_checkpoint(event)

    def _on_keyframe(self, frame: Keyframe) -> None:
        """Take over the queue, and everything else too where the log begins here."""
        if self._kv.owners:  # settings came before it, so the log did not begin here
            self.requests.queue(frame.waiting)
            return
        self.num_passes = frame.index
        self._on_configured(frame.settings)
        self.requests.resume(frame)
        self._kv.resume(frame)

    def _on_checkpoint(self, point: Checkpoint) -> None:
        self._num_finished, self._num_preemptions = point.num_finished, point.num_preemptions
        self._kv.num_looked_up, self._kv.num_hit = point.num_looked_up, point.num_hit
        for progress in point.progress:
            self.requests[progress.request_id].resume(progress)

    def _notify(self, notice: Notice) -> None:
        self._notices.append(notice)
        self._num_notices += 1

    def _meters(self) -> Meters:
        windows, now = self._windows, self._time
        return Meters(
            throughput=windows.throughput(now),
            throughput_trend=windows.throughput_trend(now),
            num_busy=self.requests.num_busy,
            held_share=windows.held_share(),
            useful_share=windows.useful_share(),
            num_used_blocks=self._kv.num_used,
            num_looked_up=self._kv.num_looked_up,
            num_hit=self._kv.num_hit,
            num_waiting=self.requests.num_waiting,
            queue_trend=windows.queue_trend(now),
            ttfts=tuple(windows.ttfts),
            gaps=tuple(windows.gaps),
            num_finished=self._num_finished,
            num_preemptions=self._num_preemptions,
        )


def _notice(event: Failed | Noted) -> Notice:
    if isinstance(event, Noted):
        return Notice(event.text)
    return Notice(event.message, True, event.is_fatal, event.is_usage)
