"""The numbers of the moment: a panel of them, and one line where there is no room for it."""

from __future__ import annotations

from engine.events import Gauges
from tuiapp.view.snapshot import Meters, Snapshot
from tuiapp.view.windows import Percentiles
from tuiapp.widgets.bars import bar, spark
from tuiapp.widgets.panel import Panel, Piece, Row

BAR_WIDTH = 12
NAME_WIDTH = 11
VALUE_WIDTH = 9


class MetersPanel(Panel):
    """A row a meter: name, value, bar or trend."""

    HELP = (
        "The engine at this moment. Slots busy: those that compute. Held idle: slots and memory "
        "of requests that are done and wait for their batch. Useful tok: of all token positions "
        "computed, those that were not padding. TTFT: from a request's arrival to its first "
        "token; ITL: between two tokens; both as the client has them."
    )

    def __init__(self) -> None:
        super().__init__("now", id="meters")

    def show(self, snapshot: Snapshot) -> None:
        """Draw a frame."""
        lines = [*_engine_lines(snapshot), *_latency_lines(snapshot.meters)]
        if snapshot.gauges:
            lines += _gauge_lines(snapshot.gauges)
        simulated = "simulated" if snapshot.info and snapshot.info.is_simulated else ""
        self.say(lines, simulated)


class MeterLine(Panel):
    """The most telling meters on one line."""

    can_focus = False
    DEFAULT_CSS = "MeterLine { border: none; height: 1; }"

    def show(self, snapshot: Snapshot) -> None:
        """Draw a frame."""
        meters = snapshot.meters
        parts = [
            f"{meters.throughput:.0f} tok/s",
            f"TTFT p95 {_tail(meters.ttft)}",
            f"ITL p95 {_tail(meters.itl)}",
            f"held {meters.held_share:.0%}",
            f"KV {meters.num_used_blocks}/{snapshot.num_blocks}",
            f"queue {meters.num_waiting}",
        ]
        if snapshot.info and snapshot.info.is_simulated:
            parts.append("simulated")
        while len(parts) > 1 and len("  ".join(parts)) > self.size.width:
            parts.pop()
        self.say([[("  ".join(parts), "")]])


def _engine_lines(snapshot: Snapshot) -> list[Row]:
    meters, num_slots = snapshot.meters, max(1, len(snapshot.slots))
    used = meters.num_used_blocks / max(1, snapshot.num_blocks)
    lines = [
        _trend("throughput", f"{meters.throughput:.0f} tok/s", meters.throughput_trend),
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


def _latency_lines(meters: Meters) -> list[Row]:
    return [_latency("TTFT", meters.ttft), _latency("ITL", meters.itl)]


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
    memory = f"{used:.1f}/{total:.0f}G" if gauges.memory_total else "n/a"
    return [
        _share(f"{gauges.name} busy", value, share or 0.0),
        _share(f"{gauges.name} mem", memory, part, "$success"),
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
