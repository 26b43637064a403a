"""`Rewind`: the state of the screen after any forward pass that is still in memory.

Now and then the view model is copied; to show a pass, the nearest copy before it reads on in the
log until there. The copies are few and small, and those that the log no longer reaches back to go.
A few more are left behind on the way, since who went back is likely to go back one more.
"""

from __future__ import annotations

from collections import deque
from itertools import islice

from engine.events import Checkpoint, Event, is_pass
from engine.log import EventLog
from tuiapp.view.snapshot import Snapshot
from tuiapp.view.tracked import RequestView
from tuiapp.view.viewmodel import ViewModel

SPACING = 2048  # events between two copies: what one step of the scrubber may have to read
NEAR_SPACING = 128  # the same of those on the way to what is shown
NUM_NEAR = 16
READ = 2048  # events in one go, or those of a chunk of the log
HEAD = 4  # events at most that a log in the middle of a run begins with
MAX_COPIES = 320  # more than a full log has room for
MAX_ENTRIES = 4_000_000  # of all copies together, 16 bytes each or so


class Rewind:
    """Follows the log, and shows its newest state or, when told so, that after an earlier pass.

    Args:
        live: reads the log from here on; the only view model that follows it.
    """

    def __init__(self, log: EventLog, live: ViewModel) -> None:
        self._log = log
        self._live = live
        self._copies: deque[ViewModel] = deque([live.copy()])
        self._near: deque[ViewModel] = deque(maxlen=NUM_NEAR)
        self._num_entries = live.num_entries  # of all copies
        self._spacing = SPACING
        self._past: ViewModel | None = None
        self._snapshot = Snapshot()

    def poll(self, now: float) -> Snapshot:
        """Read what is new; return the newest frame, whatever is shown."""
        events, end = self._log.since(self._live.position)
        self._follow(events, end)
        newest = self._live.snapshot(now)
        if self._past is None:
            self._snapshot = newest
        return newest

    @property
    def log(self) -> EventLog:
        """What is followed."""
        return self._log

    @property
    def snapshot(self) -> Snapshot:
        """The frame that is shown: the newest, or that of an earlier pass."""
        return self._snapshot

    @property
    def at(self) -> int | None:
        """The pass that is shown, counted from 1, or None while the newest state is."""
        return self._past.num_passes if self._past else None

    @property
    def position(self) -> int | None:
        """In the log, just behind the pass that is shown; None while the newest state is."""
        return self._past.position if self._past else None

    @property
    def oldest(self) -> int:
        """The first pass that can be shown."""
        reachable = (copy for copy in self._copies if copy.position >= self._log.first)
        first = next(reachable, self._live)
        return max(1, first.num_passes)

    @property
    def newest(self) -> int:
        """The last pass that can be shown; 0 before the first ran."""
        return self._live.num_passes

    @property
    def request_ids(self) -> tuple[str, ...]:
        """Of all requests that are remembered at what is shown, by arrival."""
        return (self._past or self._live).request_ids

    def request(self, request_id: str) -> RequestView | None:
        """A request at what is shown, or None if it is not remembered."""
        return (self._past or self._live).request(request_id)

    def go(self, number: int) -> bool:
        """Show the state after a pass, counted from 1.

        Returns:
            False if there is no such pass in memory: then the nearest is shown.
        """
        if not self.newest:
            return False
        wanted = max(self.oldest, min(self.newest, number))
        if wanted != self.at:
            self._past = self._find(wanted)
            self._snapshot = self._past.snapshot(now=0.0)
        return wanted == number

    def move(self, passes: int) -> bool:
        """Go so many passes on, or back; False where that leads out of memory."""
        return self.go((self.at or self.newest) + passes)

    def limit(self, *, is_back: bool) -> str:
        """What lies at either end of the passes that can be shown."""
        if not self.newest:
            return "No pass has run yet"
        if not is_back:
            return f"Pass {self.newest} is the newest"
        if self.oldest == 1:
            return "Pass 1 is the first"
        return f"Pass {self.oldest} is the oldest still in memory"

    def follow(self) -> None:
        """Show the newest state again, from the next poll on."""
        self._past = None

    def _follow(self, events: list[Event], end: int) -> None:
        """Feed the live view model, with a copy now and then, just behind a pass."""
        begin = end - len(events)
        fed = 0
        for at in range(len(events)):
            due = begin + at + 1 - self._copies[-1].position >= self._spacing
            if due and is_pass(events[at]):
                self._live.feed(islice(events, fed, at + 1), begin + at + 1)
                fed = at + 1
                self._keep(self._live.copy())
        self._live.feed(islice(events, fed, None), end)

    def _keep(self, copy: ViewModel) -> None:
        """Add a copy; let go of those that are of no use or too many."""
        self._copies.append(copy)
        self._num_entries += copy.num_entries
        while self._copies[0].position < self._log.first and len(self._copies) > 1:
            self._num_entries -= self._copies.popleft().num_entries
        if len(self._copies) > MAX_COPIES or self._num_entries > MAX_ENTRIES:
            self._copies = deque(islice(self._copies, 0, None, 2))
            self._num_entries = sum(each.num_entries for each in self._copies)
            self._spacing *= 2

    def _find(self, number: int) -> ViewModel:
        """The state after a pass: the nearest one before it, read on."""
        state = self._nearest(number)
        while state.num_passes < number:
            events, end = self._log.since(state.position, READ)
            begin = end - len(events)
            if begin > state.position:  # forgotten by the engine's thread this very moment
                return self._find(max(number, self.oldest))
            if not events:
                break
            self._read_on(state, events, begin, number)
        return state

    def _read_on(self, state: ViewModel, events: list[Event], begin: int, number: int) -> None:
        """Feed a state until a pass or as far as the events go, with a copy now and then."""
        fed = 0
        for at, event in enumerate(events):
            if not is_pass(event):
                continue
            is_there = event.index + 1 >= number
            if is_there or at + 1 - fed >= NEAR_SPACING:
                state.feed(islice(events, fed, at + 1), begin + at + 1)
                fed = at + 1
                if is_there:
                    return
                self._near.append(state.copy())
        state.feed(islice(events, fed, None), begin + len(events))

    def _nearest(self, number: int) -> ViewModel:
        """A state of its own, at that pass or before it, from which the log can be read on."""
        states = [*self._copies, *self._near, *([self._past] if self._past else [])]
        usable = [
            each
            for each in states
            if each.num_passes <= number and each.position >= self._log.first
        ]
        nearest = max(usable, key=lambda each: each.num_passes, default=self._live)
        return nearest if nearest is self._past else nearest.copy()


def tell_pass(rewind: Rewind) -> str:
    """For the title of a panel: which pass it shows, where that is not the newest."""
    return f"  ◀ pass {rewind.at}" if rewind.at else ""


def open_log(log: EventLog) -> Rewind:
    """Follow a log, which may begin with a keyframe in the middle of a run."""
    live = ViewModel(log)
    events, _ = log.since(0)
    head = next((at + 1 for at, event in enumerate(events[:HEAD]) if _ends_head(event)), 0)
    live.feed(events[:head], head)
    return Rewind(log, live)


def _ends_head(event: Event) -> bool:
    """Whether all that a log in the middle of a run begins with was read."""
    return isinstance(event, Checkpoint)
