"""The meters' recent past: sums and percentiles over sliding windows, in bounded memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from engine.events import Step, Work
from engine.metrics.recomputed import Recomputed

RATE_SECONDS = 2.0
TREND_SECONDS = 6.0
TREND_BUCKETS = 12
BUCKET_SECONDS = TREND_SECONDS / TREND_BUCKETS
NUM_GAPS = 2000
NUM_REQUESTS = 200
NUM_PASSES = 100


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Of a window, in seconds; `count` is how many values they are of."""

    p50: float
    p95: float
    count: int


def percentiles(values: Iterable[float]) -> Percentiles | None:
    """Linear percentiles, or None of nothing."""
    array = np.fromiter(values, dtype=float)
    if not array.size:
        return None
    p50, p95 = np.percentile(array, (50, 95))
    return Percentiles(float(p50), float(p95), array.size)


@dataclass(frozen=True, slots=True)
class _Pass:
    time: float
    num_sampled: int
    num_busy: int
    num_held: int
    num_waiting: int
    num_useful: int
    num_slots: int


@dataclass(frozen=True, slots=True)
class _Bucket:
    """The passes of one half second; whole half seconds, so that bars do not flicker."""

    number: int
    num_sampled: int
    most_waiting: int


class Windows:
    """Feeds on steps and deliveries."""

    def __init__(self) -> None:
        self.ttfts: deque[float] = deque(maxlen=NUM_REQUESTS)
        self.gaps: deque[float] = deque(maxlen=NUM_GAPS)
        self._recomputed = Recomputed()
        self._passes: deque[_Pass] = deque()
        self._buckets: deque[_Bucket] = deque(maxlen=TREND_BUCKETS)

    def copy(self) -> Windows:
        """A second one that goes on by itself."""
        twin = Windows()
        twin.ttfts, twin.gaps = self.ttfts.copy(), self.gaps.copy()
        twin._recomputed = self._recomputed.copy()
        twin._passes, twin._buckets = self._passes.copy(), self._buckets.copy()
        return twin

    def clear_latencies(self) -> None:
        """Begin anew where what came before cannot be compared with what comes now."""
        self.ttfts.clear()
        self.gaps.clear()

    def add_step(self, step: Step) -> None:
        """Note a forward pass, or what was preempted where none ran."""
        num_recomputed = self._recomputed.count(step)
        if not step.rows:
            return
        works = [row.work for row in step.rows]
        num_sampled = sum(row.sampled for row in step.rows)
        self._passes.append(
            _Pass(
                time=step.time,
                num_sampled=num_sampled,
                num_busy=works.count(Work.PREFILL) + works.count(Work.DECODE),
                num_held=works.count(Work.HELD),
                num_waiting=step.num_waiting,
                num_useful=step.num_tokens - num_recomputed,
                num_slots=step.num_slots,
            )
        )
        self._add_to_bucket(step, num_sampled)
        horizon = step.time - RATE_SECONDS
        while self._passes[0].time < horizon and len(self._passes) > NUM_PASSES:
            self._passes.popleft()

    def throughput(self, now: float) -> float:
        """Output tokens a second over the last two seconds."""
        begin = now - RATE_SECONDS
        recent = [p for p in self._passes if p.time > begin]
        seconds = min(RATE_SECONDS, now)
        return sum(p.num_sampled for p in recent) / seconds if seconds > 0 else 0.0

    def held_share(self) -> float:
        """Share of the slots in use that were held with no work, over the last passes."""
        recent = list(self._passes)[-NUM_PASSES:]
        held = sum(p.num_held for p in recent)
        return held / max(1, held + sum(p.num_busy for p in recent))

    def useful_share(self) -> float:
        """Of the token positions, those computed for the first time, over the last passes."""
        recent = list(self._passes)[-NUM_PASSES:]
        return sum(p.num_useful for p in recent) / max(1, sum(p.num_slots for p in recent))

    def throughput_trend(self, now: float) -> tuple[float, ...]:
        """Output tokens in each half second of the last six, oldest first."""
        return self._trend(now, lambda bucket: bucket.num_sampled)

    def queue_trend(self, now: float) -> tuple[float, ...]:
        """Longest queue in each half second of the last six, oldest first."""
        return self._trend(now, lambda bucket: bucket.most_waiting)

    def _add_to_bucket(self, step: Step, num_sampled: int) -> None:
        number, most = int(step.time / BUCKET_SECONDS), step.num_waiting
        if self._buckets and self._buckets[-1].number == number:
            begun = self._buckets.pop()
            num_sampled += begun.num_sampled
            most = max(most, begun.most_waiting)
        self._buckets.append(_Bucket(number, num_sampled, most))

    def _trend(self, now: float, height: Callable[[_Bucket], float]) -> tuple[float, ...]:
        """What each of the last half seconds has, 0 where no pass ran."""
        heights = {bucket.number: float(height(bucket)) for bucket in self._buckets}
        newest = int(now / BUCKET_SECONDS)
        return tuple(heights.get(n, 0.0) for n in range(newest - TREND_BUCKETS + 1, newest + 1))
