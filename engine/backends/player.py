"""`Player`: moves through a recording; single-threaded, `ReplayBackend` gives it a thread."""

from __future__ import annotations

from collections.abc import Iterator

from engine.clock import WallClock
from engine.events import Event, Keyframe, Ready, Step, is_pass
from engine.log import EventLog
from engine.recording import Recording
from engine.workload import check_speed

MARKS_BEFORE = 1  # keyframes to begin at before where one goes, so that a timeline is full


class Player:
    """Puts events into a log up to where its clock stands.

    Attributes:
        log: what was played. One that does not begin at the beginning begins with the engine, a
            keyframe and a checkpoint.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._clock = WallClock()
        self._speed = 1.0
        self._base = (0.0, self._clock.now())  # a moment of the recording, and when it was shown
        self._is_paused = False
        self.log, self._events, self._next = self._open(0)
        self._move(self._next.time if self._next else 0.0)

    def now(self) -> float:
        """Seconds on the recorded engine's clock; never behind its last event."""
        moment, shown = self._base
        passed = 0.0 if self._is_paused else (self._clock.now() - shown) * self._speed
        return min(max(moment, self._recording.duration), moment + passed)

    def set_speed(self, speed: float) -> None:
        """Play so many times as fast from now on.

        Raises:
            ValueError: the speed is not above 0 and finite.
        """
        self._move(self.now())
        self._speed = check_speed(speed)

    def pause(self) -> None:
        self._move(self.now())
        self._is_paused = True

    def resume(self) -> None:
        self._move(self.now())
        self._is_paused = False

    def play(self, limit: int) -> float | None:
        """Play what is due, `limit` events at most; what was left over is due at once.

        Returns:
            Seconds until the next event is due; None where nothing is to come or time stands.

        Raises:
            RecordingError: a line is damaged.
        """
        now = self.now()
        for _ in range(limit):
            if self._next is None or self._next.time > now:
                break
            self._put()
        else:
            self._move(self._next.time if self._next else now)  # time waits for what is shown
        if self._next is None or self._is_paused:
            return None
        return max(0.0, (self._next.time - self.now()) / self._speed)

    def step(self, count: int) -> None:
        """While paused, play on until so many forward passes are over.

        Raises:
            RecordingError: a line is damaged.
        """
        while self._is_paused and count and self._next:
            event = self._put()
            count -= is_pass(event)
            self._move(event.time)

    def seek(self, time: float) -> None:
        """Go to a moment; before the first and behind the last event those are taken.

        Raises:
            RecordingError: a line is damaged.
        """
        mark = self._recording.index.before_time(time)
        log, events, following = self._open(mark - MARKS_BEFORE)
        while following and following.time <= time:
            log.append(following)
            following = next(events, None)
        reached = min(time, self._recording.duration)
        self._show(log, events, following, max(0.0, reached))

    def seek_pass(self, index: int) -> None:
        """Go to the end of the forward pass of that index, counted from 0.

        Raises:
            RecordingError: a line is damaged.
        """
        mark = self._recording.index.before_pass(max(0, index))
        log, events, following = self._open(mark - MARKS_BEFORE)
        time = following.time if following else 0.0
        while following:
            log.append(following)
            time, is_there = following.time, is_pass(following) and _index(following) >= index
            following = next(events, None)
            if is_there:
                break
        self._show(log, events, following, time)

    def _open(self, mark: int) -> tuple[EventLog, Iterator[Event], Event | None]:
        """A log that begins at a mark, what is to come, and the first of it."""
        log, mark = EventLog(), max(0, mark)
        if mark:
            log.append(Ready(self._recording.index.marks[mark].time, self._recording.info))
        events = self._recording.events(mark)
        return log, events, next(events, None)

    def _show(
        self, log: EventLog, events: Iterator[Event], following: Event | None, time: float
    ) -> None:
        """Take over a log that was read to a moment."""
        self.log, self._events, self._next = log, events, following
        self._move(time)

    def _put(self) -> Event:
        event = self._next
        assert event is not None, "nothing is left to play"
        self.log.append(event)
        self._next = next(self._events, None)
        return event

    def _move(self, time: float) -> None:
        """Let the clock stand at a moment of the recording, from which it goes on."""
        self._base = (time, self._clock.now())


def _index(event: Event) -> int:
    return event.index if isinstance(event, Step | Keyframe) else 0
