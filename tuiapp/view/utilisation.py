"""`Utilisation` folds the log into what was made of the device, half second by half second."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from engine.cost.weights import weight_bytes
from engine.events import Configured, EngineInfo, Event, Gauges, Keyframe, Ready, Step, Work
from engine.log import EventLog
from engine.metrics.recomputed import Recomputed
from engine.settings import EngineSettings
from tuiapp.view.peaks import Peaks, find_peaks
from tuiapp.view.reading import read_on

BUCKET_SECONDS = 0.5
NUM_BUCKETS = 120
NUM_NOW = 4  # whole buckets that a value of now is the mean of
MOST_EVENTS = 50_000  # read of what happened before the first reading

Trend = tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Use:
    """One measure over time.

    Attributes:
        now: over the last two seconds; None where it is not known or nothing ran.
        trend: by half second, oldest first.
    """

    now: float | None
    trend: Trend


@dataclass(frozen=True, slots=True)
class Reading:
    """What was made of the device; shares are 0 to 1.

    Attributes:
        device_busy: what the device says of itself.
        machine_busy: share of all cores of the host, whoever used them.
        computing: share of the time in which the device computed a pass, as the runner timed it.
        graphed: share of the passes that were replayed as a CUDA graph.
        mode: how the runner ran the last pass.
        engine_busy: share of the time in which a pass ran, with what the host does for it.
        slots_busy: share of slot-time, in passes, with tokens to make.
        useful: share of the token positions that were computed for the first time: no padding, no
            dead rows, and nothing again after a preemption.
        mbu, mfu: model bandwidth and model FLOPs utilisation, while passes ran.
        power: in watts.
        energy: joules by output token.
        clock: of the highest that the multiprocessors' clock can be.
        sm_busy, sm_occupancy, tensor_busy, dram_busy: as `GpuGauges` has them.
        memory: share of the device's memory in use.
        gauges: the last that the device said; None before the first.
        peaks: what the device could do; None where it is not known.
    """

    device_busy: Use
    machine_busy: Use
    computing: Use
    graphed: Use
    mode: str
    engine_busy: Use
    slots_busy: Use
    useful: Use
    mbu: Use
    mfu: Use
    power: Use
    energy: Use
    clock: Use
    sm_busy: Use
    sm_occupancy: Use
    tensor_busy: Use
    dram_busy: Use
    memory: Use
    gauges: Gauges | None
    peaks: Peaks | None


@dataclass(slots=True)
class _Bucket:
    """Sums over half a second."""

    busy: float = 0.0
    computing: float = 0.0
    num_passes: int = 0
    num_graphs: int = 0
    slot_time: float = 0.0
    live_time: float = 0.0
    num_tokens: float = 0.0
    num_useful: float = 0.0
    num_positions: float = 0.0
    num_bytes: float = 0.0
    num_sampled: int = 0
    joules: float = 0.0
    gauges: list[Gauges] = field(default_factory=list)


class Utilisation:
    """Reads the log on its own, from shortly before it is first asked.

    Args:
        until: position in the log at which to stop for good; None follows the log.
    """

    def __init__(self, log: EventLog, until: int | None = None) -> None:
        self._log = log
        self._until = until
        end = len(log) if until is None else until
        self._position = max(log.first, end - MOST_EVENTS)
        self._buckets: OrderedDict[int, _Bucket] = OrderedDict()
        self._info: EngineInfo | None = None
        self._settings: EngineSettings | None = None
        self._peaks: Peaks | None = None
        self._gauges: Gauges | None = None
        self._mode = ""
        self._recomputed = Recomputed()

    def note(self, info: EngineInfo) -> None:
        """Say what runs, which the part of the log that is read may not tell."""
        if self._info is None:
            self._info, self._peaks = info, find_peaks(info)

    def poll(self, now: float) -> Reading:
        """Read what is new; return how things stand at `now`, in seconds on the engine's clock."""
        events, self._position = read_on(self._log, self._position, self._until)
        for event in events:
            self._fold(event)
        while len(self._buckets) > NUM_BUCKETS:
            self._buckets.popitem(last=False)
        last = int(now / BUCKET_SECONDS) - 1  # the newest that is whole
        return self._read([self._seen(at) for at in range(last - NUM_BUCKETS + 1, last + 1)])

    def _seen(self, index: int) -> _Bucket | None:
        """A half second: an empty one if nothing ran in it, None before the first."""
        first = next(iter(self._buckets), None)
        if first is None or index < first:
            return None
        return self._buckets.get(index) or _Bucket()

    def _fold(self, event: Event) -> None:
        match event:
            case Ready(_, info):
                self.note(info)
            case Configured(settings=settings) | Keyframe(settings=settings):
                self._settings = settings
            case Gauges():
                self._note_gauges(event)
            case Step():
                num_useful = event.num_tokens - self._recomputed.count(event)
                if event.rows and self._settings:
                    num_slots = max(self._settings.num_slots, len(event.rows))
                    self._add(event, num_slots, num_useful)
            case _:
                pass

    def _note_gauges(self, gauges: Gauges) -> None:
        bucket, before = self._bucket(int(gauges.time / BUCKET_SECONDS)), self._gauges
        has_passed = before is not None and gauges.time > before.time  # else the clock was held
        if has_passed and before and before.energy_j is not None and gauges.energy_j is not None:
            bucket.joules += gauges.energy_j - before.energy_j
        bucket.gauges.append(gauges)
        self._gauges = gauges

    def _add(self, step: Step, num_slots: int, num_useful: int) -> None:
        """Spread a pass over the half seconds in which it ran."""
        num_live = sum(row.work is not Work.HELD for row in step.rows)
        num_bytes = self._bytes_read(step)
        begin, end = step.time - step.duration, step.time
        for index in range(int(begin / BUCKET_SECONDS), int(end / BUCKET_SECONDS) + 1):
            low, high = index * BUCKET_SECONDS, (index + 1) * BUCKET_SECONDS
            inside = max(0.0, min(end, high) - max(begin, low))
            share = inside / step.duration if step.duration else 1.0
            bucket = self._bucket(index)
            bucket.busy += inside
            bucket.computing += share * step.split.device
            bucket.slot_time += inside * num_slots
            bucket.live_time += inside * num_live
            bucket.num_tokens += share * step.num_tokens
            bucket.num_useful += share * num_useful
            bucket.num_positions += share * step.num_slots
            bucket.num_bytes += share * num_bytes
        bucket = self._bucket(int(end / BUCKET_SECONDS))
        bucket.num_sampled += sum(row.sampled for row in step.rows)
        bucket.num_passes += 1
        bucket.num_graphs += step.mode.startswith("graph")
        self._mode = step.mode

    def _bytes_read(self, step: Step) -> float:
        """The weights once, and the keys and values of every sequence in the pass."""
        if self._info is None:
            return 0.0
        context = sum(row.num_computed + row.num_tokens for row in step.rows if row.num_tokens)
        return weight_bytes(self._info) + context * self._info.kv_bytes_per_token

    def _bucket(self, index: int) -> _Bucket:
        return self._buckets.setdefault(index, _Bucket())

    def _read(self, shown: list[_Bucket | None]) -> Reading:
        params = self._info.num_params_read if self._info else 0
        bandwidth = self._peaks.bandwidth if self._peaks else 0.0
        flops = self._peaks.flops if self._peaks else 0.0
        has_counter = self._gauges is not None and self._gauges.energy_j is not None
        return Reading(
            device_busy=_gauge(shown, lambda gauges: gauges.utilisation),
            machine_busy=_gauge(shown, lambda g: _mean(g.cpu.per_core) if g.cpu else None),
            computing=_use(shown, lambda b: b.computing, lambda b: BUCKET_SECONDS),
            graphed=_use(shown, lambda b: b.num_graphs, lambda b: b.num_passes),
            mode=self._mode,
            engine_busy=_use(shown, lambda b: b.busy, lambda b: BUCKET_SECONDS),
            slots_busy=_use(shown, lambda b: b.live_time, lambda b: b.slot_time),
            useful=_use(shown, lambda b: b.num_useful, lambda b: b.num_positions),
            mbu=_use(shown, lambda b: b.num_bytes, lambda b: b.busy * bandwidth),
            mfu=_use(shown, lambda b: 2.0 * params * b.num_tokens, lambda b: b.busy * flops),
            power=_gauge(shown, lambda gauges: gauges.power_w),
            energy=_use(shown, lambda b: b.joules, lambda b: b.num_sampled * has_counter),
            clock=_gauge(shown, _clock),
            sm_busy=_gauge(shown, lambda g: g.gpu.sm_busy if g.gpu else None),
            sm_occupancy=_gauge(shown, lambda g: g.gpu.sm_occupancy if g.gpu else None),
            tensor_busy=_gauge(shown, lambda g: g.gpu.tensor_busy if g.gpu else None),
            dram_busy=_gauge(shown, lambda g: g.gpu.dram_busy if g.gpu else None),
            memory=_gauge(shown, lambda g: g.memory_used / max(1, g.memory_total)),
            gauges=self._gauges,
            peaks=self._peaks,
        )


def _use(
    shown: list[_Bucket | None],
    part: Callable[[_Bucket], float],
    whole: Callable[[_Bucket], float],
) -> Use:
    """A share by half second, and over the last of them together."""
    trend = tuple(_ratio(part(b), whole(b)) if b else None for b in shown)
    recent = [b for b in shown[-NUM_NOW:] if b]
    return Use(_ratio(sum(map(part, recent)), sum(map(whole, recent))), trend)


def _gauge(shown: list[_Bucket | None], value: Callable[[Gauges], float | None]) -> Use:
    """What the device said, by half second; now is the last of it."""
    trend = tuple(_mean([value(g) for g in b.gauges]) if b else None for b in shown)
    known = [number for number in trend[-NUM_NOW:] if number is not None]
    return Use(known[-1] if known else None, trend)


def _clock(gauges: Gauges) -> float | None:
    gpu = gauges.gpu
    if gpu is None or gpu.sm_clock_mhz is None or not gpu.max_sm_clock_mhz:
        return None
    return gpu.sm_clock_mhz / gpu.max_sm_clock_mhz


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
