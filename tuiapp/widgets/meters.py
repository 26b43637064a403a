"""The numbers of the moment: a panel of them, and one line where there is no room for it."""

from __future__ import annotations

from dataclasses import dataclass

from engine.events import Gauges
from tuiapp.view.snapshot import Snapshot
from tuiapp.view.windows import BUCKET_SECONDS, Percentiles
from tuiapp.widgets.bars import bar, spark
from tuiapp.widgets.panel import Panel, Piece, Row

BAR_WIDTH = 12
NAME_WIDTH = 11
VALUE_WIDTH = 9


@dataclass(frozen=True, slots=True)
class Rates:
    """What is worked out over many passes, and read by people: it need not move in every frame."""

    throughput: float
    ttft: Percentiles | None
    itl: Percentiles | None


class Steady:
    """Keeps rates for half a second on the engine's clock."""

    def __init__(self) -> None:
        self._half: int | None = None
        self._rates = Rates(0.0, None, None)

    def of(self, snapshot: Snapshot, *, is_fresh: bool) -> Rates:
        """The rates to show; worked out anew where they are old, or have to be fresh."""
        half = int(snapshot.time / BUCKET_SECONDS)
        if is_fresh or half != self._half:
            meters, self._half = snapshot.meters, half
            self._rates = Rates(meters.throughput, meters.ttft, meters.itl)
        return self._rates


class MetersPanel(Panel):
    """A row a meter: name, value, bar or trend."""

    HELP = (
        "The engine at this moment. Slots busy: those that compute. Held idle: slots and memory "
        "of requests that are done and wait for their batch. Useful tok: of all token positions "
        "computed, those that were neither padding nor computed again. TTFT: from a request's "
        "arrival to its first token; ITL: between two tokens; both as the client has them. Rates "
        "and times move twice a second."
    )

    def __init__(self) -> None:
        super().__init__("now", id="meters")
        self._steady = Steady()

    def show(self, snapshot: Snapshot, *, is_fresh: bool = True) -> None:
        """Draw a frame; unless fresh, rates and times may be those of this half second's first."""
        rates = self._steady.of(snapshot, is_fresh=is_fresh)
        lines = [*_engine_lines(snapshot, rates), *_latency_lines(rates)]
        if snapshot.gauges:
            lines += _gauge_lines(snapshot.gauges)
        simulated = "simulated" if snapshot.info and snapshot.info.is_simulated else ""
        self.say(lines, simulated)


class MeterLine(Panel):
    """The most telling meters on one line."""

    can_focus = False
    DEFAULT_CSS = "MeterLine { border: none; height: 1; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._steady = Steady()

    def show(self, snapshot: Snapshot, *, is_fresh: bool = True) -> None:
        """Draw a frame; unless fresh, rates and times may be those of this half second's first."""
        meters, rates = snapshot.meters, self._steady.of(snapshot, is_fresh=is_fresh)
        parts = [
            f"{rates.throughput:.0f} tok/s",
            f"TTFT p95 {_tail(rates.ttft)}",
            f"ITL p95 {_tail(rates.itl)}",
            f"held {meters.held_share:.0%}",
            f"KV {meters.num_used_blocks}/{snapshot.num_blocks}",
            f"queue {meters.num_waiting}",
        ]
        if snapshot.info and snapshot.info.is_simulated:
            parts.append("simulated")
        while len(parts) > 1 and len("  ".join(parts)) > self.size.width:
            parts.pop()
        self.say([[("  ".join(parts), "")]])


def _engine_lines(snapshot: Snapshot, rates: Rates) -> list[Row]:
    meters, num_slots = snapshot.meters, max(1, len(snapshot.slots))
    used = meters.num_used_blocks / max(1, snapshot.num_blocks)
    lines = [
        _trend("throughput", f"{rates.throughput:.0f} tok/s", meters.throughput_trend),
        _share("slots busy", f"{meters.num_busy}/{num_slots}", meters.num_busy / num_slots),
        _share("held idle", f"{meters.held_share:.0%}", meters.held_share, "$phase-held-ink"),
        _share("useful tok", f"{meters.useful_share:.0%}", meters.useful_share),
        _share("KV blocks", f"{meters.num_used_blocks}/{snapshot.num_blocks}", used, "$success"),
        _trend("queue", f"{meters.num_waiting}", meters.queue_trend),
    ]
    if snapshot.settings.enable_prefix_caching:
        hits = meters.num_hit / max(1, meters.num_looked_up)
        lines.insert(-1, _share("prefix hit", f"{hits:.0%}", hits, "$success"))
    return lines


def _latency_lines(rates: Rates) -> list[Row]:
    return [_latency("TTFT", rates.ttft), _latency("ITL", rates.itl)]


def _latency(name: str, values: Percentiles | None) -> Row:
    """Median and tail on one row; both undefined while nothing came so."""
    return [
        (f"{name:<5}", "$muted"),
        (f"p50 {_ms(values.p50 if values else None):>8}", "bold"),
        (f"  p95 {_tail(values):>8}", "bold"),
    ]


def _gauge_lines(gauges: Gauges) -> list[Row]:
    share = gauges.utilisation
    value = "n/a" if share is None else f"{share:.0%}"
    if gauges.power_w is not None:
        value += f" {gauges.power_w:.0f}W"
    used, total = gauges.memory_used / 2**30, gauges.memory_total / 2**30
    part = gauges.memory_used / max(1, gauges.memory_total)
    return [
        _share(f"{gauges.name} busy", value, share or 0.0),
        _share(f"{gauges.name} mem", f"{used:.1f}/{total:.0f}G", part, "$success"),
    ]


def _share(name: str, value: str, share: float, colour: str = "$phase-decode-ink") -> Row:
    filled, rest = bar(share, BAR_WIDTH)
    return _row(name, value, (filled, colour), (rest, "$faint"))


def _trend(name: str, value: str, trend: tuple[float, ...]) -> Row:
    return _row(name, value, (spark(trend, BAR_WIDTH), "$phase-decode-ink"))


def _row(name: str, value: str, *picture: Piece) -> Row:
    return [
        (f"{name:<{NAME_WIDTH}}"[:NAME_WIDTH], "$muted"),
        (f"{value:>{VALUE_WIDTH}}", "bold"),
        (" ", ""),
        *picture,
    ]


def _tail(values: Percentiles | None) -> str:
    return _ms(values.p95 if values else None)


def _ms(seconds: float | None) -> str:
    """Milliseconds, or seconds where there are many; a dash where undefined."""
    if seconds is None:
        return "—"
    return f"{seconds:.1f} s" if seconds >= 10 else f"{seconds * 1000:.0f} ms"
