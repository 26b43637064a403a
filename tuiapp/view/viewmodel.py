"""`ViewModel` folds the event log into a frozen `Snapshot`: all that one frame shows."""

from __future__ import annotations

from collections import OrderedDict, deque
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
    RowRecord,
    Step,
    Token,
    Work,
)
from engine.log import EventLog
from engine.plan import Skip
from engine.request import FinishReason
from engine.settings import EngineSettings
from tuiapp.view.columns import Column, make_column
from tuiapp.view.kv_book import KvBook
from tuiapp.view.line import stand_in_line
from tuiapp.view.snapshot import Meters, Notice, Snapshot
from tuiapp.view.tracked import RequestView, Tracked
from tuiapp.view.windows import NUM_GAPS, Windows

NUM_COLUMNS = 512
NUM_REMEMBERED = 400
NUM_QUEUE_SHOWN = 64
NUM_NOTICES = 20
COMPUTING = (Work.PREFILL, Work.DECODE)
COPIED = 40  # entries that a copy of one live request is worth


class ViewModel:
    """Reads the log from where it left off; the only reader the screens need."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._position = 0
        self._time = 0.0
        self._info: EngineInfo | None = None
        self._settings = EngineSettings()
        self._requests: OrderedDict[str, Tracked] = OrderedDict()
        self._waiting: OrderedDict[str, None] = OrderedDict()
        self._slots: dict[int, str] = {}
        self._left: dict[int, RequestView] = {}
        self._columns: deque[Column] = deque(maxlen=NUM_COLUMNS)
        self._skipped: tuple[Skip, ...] = ()
        self._kv = KvBook()
        self._windows = Windows()
        self._gauges: Gauges | None = None
        self._last_preempted: str | None = None
        self._num_passes = 0
        self._num_finished = 0
        self._num_preemptions = 0
        self._notices: deque[Notice] = deque(maxlen=NUM_NOTICES)
        self._num_notices = 0
        self._num_played = 0
        self._num_came = 0

    @property
    def position(self) -> int:
        """In the log, of the first event that was not read yet."""
        return self._position

    @property
    def num_passes(self) -> int:
        return self._num_passes

    @property
    def request_ids(self) -> tuple[str, ...]:
        """Of all that are remembered, by arrival."""
        return tuple(self._requests)

    def poll(self, now: float) -> Snapshot:
        """Read what is new; return the frame of this moment."""
        events, position = self._log.since(self._position)
        if position - len(events) > self._position:
            events = self._begin_again(events)
        self.feed(events, position)
        return self.snapshot(now)

    def _begin_again(self, events: list[Event]) -> list[Event]:
        """Forget all but what runs, since the log forgot events that were never read.

        Returns:
            The events from the oldest keyframe on, which says what the rest builds on.
        """
        info = self._info
        vars(self).update(vars(ViewModel(self._log)))
        self._info = info
        kinds = (at for at, event in enumerate(events) if isinstance(event, Keyframe))
        return events[next(kinds, len(events)) :]

    def feed(self, events: Iterable[Event], position: int) -> None:
        """Take in events that end at a position of the log."""
        for event in events:
            self._fold(event)
        self._position = position
        self._forget()

    def request(self, request_id: str) -> RequestView | None:
        """A request that is still remembered, or None."""
        tracked = self._requests.get(request_id)
        return tracked.view() if tracked else None

    def copy(self) -> ViewModel:
        """A second one at the same place in the log; what changes no more is shared."""
        twin = copy(self)
        held = set(self._slots.values())
        twin._requests = OrderedDict(
            (key, tracked if tracked.reason and key not in held else tracked.copy())
            for key, tracked in self._requests.items()
        )
        twin._waiting = self._waiting.copy()
        twin._slots, twin._left = self._slots.copy(), self._left.copy()
        twin._columns, twin._notices = self._columns.copy(), self._notices.copy()
        twin._kv = self._kv.copy()
        twin._windows = self._windows.copy()
        return twin

    @property
    def num_entries(self) -> int:
        """Entries of all that a copy holds: a measure of its memory."""
        live = len(self._waiting) + len(self._slots)
        return len(self._kv.owners) + len(self._requests) + COPIED * live + NUM_COLUMNS + NUM_GAPS

    def _fold(self, event: Event) -> None:
        self._time = max(self._time, event.time)
        if isinstance(event, ClientEvent):
            self._fold_client(event)
        else:
            self._fold_engine(event)

    def _fold_client(self, event: ClientEvent) -> None:
        match event:
            case Token():
                self._on_token(event)
            case Delivered():
                self._on_delivered(event)
            case Arrived(_, request):
                self._num_came += 1
                self._requests[request.id] = Tracked(request, self._num_came)
                self._waiting[request.id] = None
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
                self._info = info
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

    def _on_token(self, event: Token) -> None:
        self._requests[event.request_id].generate(event.text)

    def _on_delivered(self, event: Delivered) -> None:
        tracked = self._requests[event.request_id]
        gap = tracked.deliver(event.time, event.num_tokens)
        if gap is None:
            self._windows.ttfts.append(event.time - tracked.request.arrival)
        else:
            self._windows.gaps.append(gap)

    def _on_finished(self, event: Finished) -> None:
        tracked = self._requests[event.request_id]
        tracked.finish(event)
        self._waiting.pop(event.request_id, None)
        if event.reason in (FinishReason.STOP, FinishReason.LENGTH):
            self._num_finished += 1
            return
        tracked.rest()
        self._vacate([slot for slot, key in self._slots.items() if key == event.request_id])
        if event.reason is FinishReason.REJECTED:
            message = f"{event.request_id} refused: {event.message}"
            self._notify(Notice(message, is_refusal=True))

    def _on_step(self, step: Step) -> None:
        for change in step.blocks:
            self._move_blocks(change)
        for lost in step.preempted:
            self._on_preempted(lost.request_id)
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
        self._skipped = step.skipped
        if step.rows:
            self._num_passes = step.index + 1
        self._windows.add_step(step)
        if step.rows or step.preempted:
            self._columns.append(make_column(step))

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

    def _move_blocks(self, change: BlockChange) -> None:
        self._kv.move(change)
        tracked = self._requests.get(change.request_id)  # like its rows, of who is forgotten by now
        if tracked and change.lookup and not change.lookup.is_resumed:
            tracked.look_up(change.lookup.num_hit)

    def _on_preempted(self, request_id: str) -> None:
        self._num_preemptions += 1
        self._last_preempted = request_id
        tracked = self._requests.get(request_id)
        if tracked is None or tracked.reason:  # its last token was under way
            return
        tracked.preempt()
        self._waiting[request_id] = None
        self._waiting.move_to_end(request_id, last=False)

    def _on_configured(self, settings: EngineSettings) -> None:
        old, self._settings = self._settings, settings
        if (old.batcher, old.delivery) != (settings.batcher, settings.delivery):
            self._windows.clear_latencies()
        num_blocks = self._info.num_blocks(settings) if self._info else 0
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
        self._waiting = OrderedDict.fromkeys(frame.waiting)
        if self._kv.owners:  # settings came before it, so the log did not begin here
            return
        self._num_passes = frame.index
        self._on_configured(frame.settings)
        numbered = enumerate(frame.requests)
        self._requests = OrderedDict((each.id, Tracked(each, at)) for at, each in numbered)
        self._num_came = len(frame.requests)
        for holding in frame.running:
            self._slots[holding.slot] = holding.request_id
            self._requests[holding.request_id].hold(holding.num_computed)
        self._kv.resume(frame)

    def _on_checkpoint(self, point: Checkpoint) -> None:
        self._num_finished, self._num_preemptions = point.num_finished, point.num_preemptions
        self._kv.num_looked_up, self._kv.num_hit = point.num_looked_up, point.num_hit
        for progress in point.progress:
            self._requests[progress.request_id].resume(progress)

    def _notify(self, notice: Notice) -> None:
        self._notices.append(notice)
        self._num_notices += 1

    def _forget(self) -> None:
        """Drop the oldest requests that have ended, beyond a few hundred."""
        excess = len(self._requests) - NUM_REMEMBERED - len(self._waiting) - len(self._slots)
        if excess <= 0:
            return
        held = set(self._slots.values())
        ended = [key for key, t in self._requests.items() if t.reason and key not in held]
        for key in ended[:excess]:
            del self._requests[key]

    def snapshot(self, now: float) -> Snapshot:
        """The frame of what was read, no earlier than its last event."""
        self._time = max(self._time, now)
        num_slots = max([self._settings.num_slots, *(slot + 1 for slot in self._slots)])
        slots = (self._slots.get(slot) for slot in range(num_slots))
        waiting = stand_in_line(self._waiting, self._requests, self._settings, self._time)
        return Snapshot(
            time=self._time,
            num_passes=self._num_passes,
            info=self._info,
            settings=self._settings,
            columns=tuple(self._columns),
            slots=tuple(self._requests[key].view() if key else None for key in slots),
            left=tuple(self._left.get(slot) for slot in range(num_slots)),
            waiting=tuple(self._requests[key].view() for key in waiting[:NUM_QUEUE_SHOWN]),
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

    def _meters(self) -> Meters:
        held = [self._requests[key] for key in self._slots.values()]
        windows, now = self._windows, self._time
        return Meters(
            throughput=windows.throughput(now),
            throughput_trend=windows.throughput_trend(now),
            num_busy=sum(t.reason is None and t.work in COMPUTING for t in held),
            held_share=windows.held_share(),
            useful_share=windows.useful_share(),
            num_used_blocks=self._kv.num_used,
            num_looked_up=self._kv.num_looked_up,
            num_hit=self._kv.num_hit,
            num_waiting=len(self._waiting),
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
