"""`GapFold`: the longest gaps between the deliveries of one request, from the passes in them."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from dataclasses import dataclass, field, replace
from statistics import median

from engine.events import RowRecord, Step, Work
from engine.plan import SkipReason
from tuiapp.explain.gaps import COMPUTING, Gap, Share, share_out

NUM_WORST = 5  # gaps that are kept with all that was in them


@dataclass(slots=True)
class Between:
    """What has happened since the last delivery.

    Attributes:
        longest: the longest pass.
        served: tokens by request and work in the passes that gave this one nothing.
        waits: why it was not admitted in those that it had no slot in.
    """

    num_passes: int = 0
    busy: float = 0.0
    num_idle: int = 0
    num_evictions: int = 0
    num_lost: int = 0
    evicted_in: int | None = None
    longest: Step | None = None
    served: Counter[tuple[str, Work]] = field(default_factory=Counter)
    waits: Counter[SkipReason] = field(default_factory=Counter)

    def count(self, step: Step, row: RowRecord | None, request_id: str) -> None:
        """Note a pass."""
        self.num_passes += 1
        self.busy += step.duration
        if self.longest is None or step.duration > self.longest.duration:
            self.longest = step
        if row and row.num_tokens:
            return
        self.num_idle += 1
        for each in step.rows:
            if each.work in COMPUTING:
                self.served[each.request_id, each.work] += each.num_tokens
        if row is None and step.skipped:
            own = (skip for skip in step.skipped if skip.request_id == request_id)
            self.waits[next(own, step.skipped[-1]).reason] += 1

    def measure(self, request_id: str, seconds: float, longest: Step) -> Gap:
        """The gap that ends now."""
        served = (Share(name, work, count) for (name, work), count in self.served.most_common())
        return Gap(
            request_id=request_id,
            seconds=seconds,
            usual=0.0,
            num_passes=self.num_passes,
            longest=longest.index + 1,
            longest_seconds=longest.duration,
            carried=share_out(longest.rows),
            num_padded=longest.num_slots - longest.num_tokens,
            outside=max(0.0, seconds - self.busy),
            num_idle=self.num_idle,
            served=tuple(served),
            waits=tuple(self.waits.most_common()),
            num_evictions=self.num_evictions,
            num_lost=self.num_lost,
            evicted_in=self.evicted_in,
        )


@dataclass(slots=True)
class GapFold:
    """Follows the deliveries of one request, and the passes between them.

    A delivery is logged before the pass that led to it, so it counts once that pass is read.

    Attributes:
        gaps: between two deliveries each, in seconds.
    """

    request_id: str
    gaps: list[float] = field(default_factory=list)
    _last: float | None = None
    _due: list[float] = field(default_factory=list)
    _worst: list[Gap] = field(default_factory=list)  # the longest first, the earlier of two alike
    _between: Between = field(default_factory=Between)

    def deliver(self, time: float) -> None:
        """Note a delivery."""
        self._due.append(time)

    def feed(self, step: Step, row: RowRecord | None) -> None:
        """Note a pass, and what the request did in it."""
        if self._last is None and not self._due:  # no gap has begun
            return
        between = self._between
        for lost in step.preempted:
            if lost.request_id == self.request_id:
                between.evicted_in = between.evicted_in or step.index + 1
                between.num_evictions += 1
                between.num_lost += lost.num_lost
        if step.rows:
            between.count(step, row, self.request_id)
        for time in self._due:
            self._close(time)
        self._due.clear()

    def worst(self) -> tuple[Gap, ...]:
        """The longest gaps so far, the longest first, beside what is usual now."""
        usual = median(self.gaps) if self._worst else 0.0
        return tuple(replace(gap, usual=usual) for gap in self._worst)

    def _close(self, time: float) -> None:
        """End the gap that ran, if one did, and begin the next."""
        if self._last is not None:
            seconds, longest = time - self._last, self._between.longest
            self.gaps.append(seconds)
            if longest and (len(self._worst) < NUM_WORST or seconds > self._worst[-1].seconds):
                gap = self._between.measure(self.request_id, seconds, longest)
                insort(self._worst, gap, key=lambda each: -each.seconds)
                del self._worst[NUM_WORST:]
        self._last, self._between = time, Between()
