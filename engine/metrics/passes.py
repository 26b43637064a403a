"""What the forward passes were spent on. Only engines that run here tell of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.events import EngineInfo, Gauges, Step, Work
from engine.metrics.recomputed import Recomputed
from engine.settings import EngineSettings


@dataclass(frozen=True, slots=True)
class PassReport:
    """Totals over all passes; shares are 0 to 1, None is undefined.

    Attributes:
        num_tokens: computed, padding left out.
        num_positions: computed, padding and dead rows included.
        num_recomputed: tokens computed again after a preemption.
        num_looked_up, num_hit: tokens of new requests that the prefix cache was asked for, and
            those that it held; resumption after a preemption left out.
        hit_rate: their ratio; None where there is no prefix cache.
        busy: seconds of passes.
        busy_share: of the time from first arrival to last delivery.
        busy_per_request: seconds of passes by completed request.
        occupancy: share of slot-time, in passes, in which the slot's sequence had tokens to make.
        held_share: share of slot-time in which the slot was held by a finished sequence.
        padding_share: of the positions, those that were padding or dead rows.
        useful_share: of the positions, those of tokens computed for the first time.
        mean_batch: requests by batch formed; continuous batching forms one every pass.
        peak_running: slots held at once at most.
        kv_peak: share of the KV blocks in use at most.
        energy: joules that the device took, by its counter or else its readings of power;
            None where it has neither.
        energy_per_token: joules by delivered token.
    """

    num_passes: int
    num_tokens: int
    num_positions: int
    num_recomputed: int
    num_preemptions: int
    busy: float
    busy_share: float | None
    busy_per_request: float | None
    occupancy: float | None
    held_share: float | None
    padding_share: float | None
    useful_share: float | None
    mean_batch: float | None
    peak_running: int
    kv_peak: float | None
    energy: float | None
    energy_per_token: float | None
    num_looked_up: int
    num_hit: int
    hit_rate: float | None


@dataclass(slots=True)
class PassTotals:
    """Running totals over `Step` events, and the power between two readings of a gauge."""

    num_passes: int = 0
    num_tokens: int = 0
    num_positions: int = 0
    num_recomputed: int = 0
    num_preemptions: int = 0
    num_batches: int = 0
    num_batched: int = 0
    num_looked_up: int = 0
    num_hit: int = 0
    peak_running: int = 0
    busy: float = 0.0
    slot_time: float = 0.0
    live_time: float = 0.0
    held_time: float = 0.0
    kv_peak: float | None = None
    energy: float | None = None
    _gauges: Gauges | None = None
    _num_slots: int = 0
    _num_kv_blocks: int = 0
    _info: EngineInfo | None = None
    _recomputed: Recomputed = field(default_factory=Recomputed)

    def begin(self, info: EngineInfo) -> None:
        """Note what runs."""
        self._info = info

    def configure(self, settings: EngineSettings) -> None:
        """Note the settings from here on."""
        self._num_slots = settings.num_slots
        self._num_kv_blocks = self._info.num_blocks(settings) if self._info else 0

    def add(self, step: Step) -> None:
        """Count one step."""
        self.num_recomputed += self._recomputed.count(step)
        self.num_preemptions += len(step.preempted)
        for change in step.blocks:
            if change.lookup and not change.lookup.is_resumed:
                self.num_looked_up += change.lookup.num_tokens
                self.num_hit += change.lookup.num_hit
        if self._num_kv_blocks:
            used = 1 - step.num_free_blocks / self._num_kv_blocks
            self.kv_peak = max(used, self.kv_peak or 0.0)
        if step.rows:
            self._add_pass(step)

    def read_power(self, gauges: Gauges) -> None:
        """Add the energy since the reading before."""
        if self._gauges and (joules := _joules(self._gauges, gauges)) is not None:
            self.energy = (self.energy or 0.0) + joules
        self._gauges = gauges

    def report(self, span: float, num_completed: int, num_delivered: int) -> PassReport:
        """Sum up.

        Args:
            span: seconds from first arrival to last delivery.
        """
        positions = self.num_positions
        return PassReport(
            num_passes=self.num_passes,
            num_tokens=self.num_tokens,
            num_positions=positions,
            num_recomputed=self.num_recomputed,
            num_preemptions=self.num_preemptions,
            busy=self.busy,
            busy_share=_ratio(self.busy, span),
            busy_per_request=_ratio(self.busy, num_completed),
            occupancy=_ratio(self.live_time, self.slot_time),
            held_share=_ratio(self.held_time, self.slot_time),
            padding_share=_ratio(positions - self.num_tokens, positions),
            useful_share=_ratio(self.num_tokens - self.num_recomputed, positions),
            mean_batch=_ratio(self.num_batched, self.num_batches),
            peak_running=self.peak_running,
            kv_peak=self.kv_peak,
            energy=self.energy,
            energy_per_token=_ratio(self.energy, num_delivered) if self.energy else None,
            num_looked_up=self.num_looked_up,
            num_hit=self.num_hit,
            hit_rate=_ratio(self.num_hit, self.num_looked_up),
        )

    def _add_pass(self, step: Step) -> None:
        num_held = sum(row.work is Work.HELD for row in step.rows)
        self.num_passes += 1
        self.num_tokens += step.num_tokens
        self.num_positions += step.num_slots
        self.peak_running = max(self.peak_running, len(step.rows))
        self.busy += step.duration
        self.slot_time += step.duration * max(self._num_slots, len(step.rows))
        self.held_time += step.duration * num_held
        self.live_time += step.duration * (len(step.rows) - num_held)
        if not step.is_rectangular or any(row.work is Work.PREFILL for row in step.rows):
            self.num_batches += 1
            self.num_batched += sum(row.num_tokens > 0 for row in step.rows)


def _joules(before: Gauges, after: Gauges) -> float | None:
    """By the device's counter; without one as if power had changed evenly, None without both.

    While the clock is held, no time passes, and what the device takes is no part of the run.
    """
    if after.time <= before.time:
        return None
    if before.energy_j is not None and after.energy_j is not None:
        return after.energy_j - before.energy_j
    if before.power_w is None or after.power_w is None:
        return None
    return (after.time - before.time) * (before.power_w + after.power_w) / 2


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
