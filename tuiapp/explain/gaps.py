"""`Gap`: the longest time between two deliveries of a request, and what was in it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from statistics import median

from engine.events import RowRecord, Step, Work
from tuiapp.counting import counted

TELLING = 0.5  # what makes up less than this share of a gap does not explain it
NOTABLE = 1.25  # a gap that is no longer than so many usual ones needs no culprit


@dataclass(frozen=True, slots=True)
class Gap:
    """Two deliveries and the passes between them.

    Attributes:
        seconds: between the deliveries.
        usual: median of the request's gaps, in seconds.
        num_passes: that it took.
        longest: the longest of them, counted from 1, as the screen counts them.
        longest_seconds: how long that one was.
        prefills: whose prompts that pass carried, with the tokens of each, the most first.
        num_decodes: requests that decoded in it, this one counted.
        outside: seconds of it in which no pass ran.
        num_idle: passes in which this request was given nothing.
        num_evictions: how often it was evicted.
        num_lost: tokens that it lost by that, to be computed again.
        evicted_in: the pass before which it was evicted first, or None.
    """

    seconds: float
    usual: float
    num_passes: int
    longest: int
    longest_seconds: float
    prefills: tuple[tuple[str, int], ...]
    num_decodes: int
    outside: float = 0.0
    num_idle: int = 0
    num_evictions: int = 0
    num_lost: int = 0
    evicted_in: int | None = None


def explain_gap(gap: Gap) -> str:
    """One sentence that names the culprit, as far as the records do."""
    usually = f" (a usual gap: {_ms(gap.usual)})"
    if gap.evicted_in is not None:
        often = f"{gap.num_evictions} times, first " if gap.num_evictions > 1 else ""
        return (
            f"It was evicted {often}before pass {gap.evicted_in}, and its next token took "
            f"{counted(gap.num_passes, 'pass')}; {counted(gap.num_lost, 'token')} had to be "
            "computed again."
        )
    if gap.seconds <= NOTABLE * gap.usual:
        return f"No gap stands out: the longest was {_ms(gap.seconds)}, the usual {_ms(gap.usual)}."
    if gap.outside >= TELLING * gap.seconds:
        return f"For {_ms(gap.outside)} of {_ms(gap.seconds)} no pass ran at all{usually}."
    if gap.longest_seconds >= TELLING * gap.seconds:
        return f"Pass {gap.longest} took {_ms(gap.longest_seconds)}{usually}{_carried(gap)}."
    if gap.num_idle:
        return f"It was given no token in {counted(gap.num_idle, 'pass')}{usually}."
    return f"It took {counted(gap.num_passes, 'pass')}{usually}, none of them long."


def _carried(gap: Gap) -> str:
    """What was in the longest pass."""
    if gap.prefills:
        return f": it carried {_blame(gap.prefills)}"
    return f", with {counted(gap.num_decodes, 'request')} decoding and no prompt"


def _blame(prefills: tuple[tuple[str, int], ...]) -> str:
    (name, tokens), *others = prefills
    rest = sum(count for _, count in others)
    also = f" and {rest} of {counted(len(others), 'other')}" if others else ""
    return f"{tokens} prefill tokens of {name}{also}"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds >= 0.0095 else f"{seconds * 1000:.1f} ms"


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
    _worst: Gap | None = None  # without what was in its longest pass
    _culprit: Step | None = None  # that pass
    _num_passes: int = 0
    _busy: float = 0.0
    _num_idle: int = 0
    _num_evictions: int = 0
    _num_lost: int = 0
    _evicted_in: int | None = None
    _longest: Step | None = None

    def deliver(self, time: float) -> None:
        """Note a delivery."""
        self._due.append(time)

    def feed(self, step: Step, row: RowRecord | None) -> None:
        """Note a pass, and what the request did in it."""
        if self._last is None and not self._due:  # no gap has begun
            return
        for lost in step.preempted:
            if lost.request_id == self.request_id:
                self._evicted_in = self._evicted_in or step.index + 1
                self._num_evictions += 1
                self._num_lost += lost.num_lost
        if step.rows:
            self._num_passes += 1
            self._busy += step.duration
            self._num_idle += row is None or row.num_tokens == 0
            if self._longest is None or step.duration > self._longest.duration:
                self._longest = step
        for time in self._due:
            self._close(time)
        self._due.clear()

    def worst(self) -> Gap | None:
        """The longest gap so far, beside what is usual now."""
        if self._worst is None or self._culprit is None:
            return None
        rows = self._culprit.rows
        prefills = [
            (row.request_id, row.num_tokens)
            for row in rows
            if row.work is Work.PREFILL and row.request_id != self.request_id
        ]
        return replace(
            self._worst,
            usual=median(self.gaps),
            prefills=tuple(sorted(prefills, key=lambda prefill: -prefill[1])),
            num_decodes=sum(row.work is Work.DECODE for row in rows),
        )

    def _close(self, time: float) -> None:
        """End the gap that ran, if one did, and begin the next."""
        if self._last is not None:
            seconds = time - self._last
            self.gaps.append(seconds)
            if self._longest and (self._worst is None or seconds > self._worst.seconds):
                self._worst = self._measure(seconds, self._longest)
                self._culprit = self._longest
        self._last, self._longest, self._evicted_in = time, None, None
        self._num_passes = self._num_idle = self._num_evictions = self._num_lost = 0
        self._busy = 0.0

    def _measure(self, seconds: float, longest: Step) -> Gap:
        """The gap that ends now; what its longest pass carried is looked up when asked for."""
        return Gap(
            seconds=seconds,
            usual=0.0,
            num_passes=self._num_passes,
            longest=longest.index + 1,
            longest_seconds=longest.duration,
            prefills=(),
            num_decodes=0,
            outside=max(0.0, seconds - self._busy),
            num_idle=self._num_idle,
            num_evictions=self._num_evictions,
            num_lost=self._num_lost,
            evicted_in=self._evicted_in,
        )
