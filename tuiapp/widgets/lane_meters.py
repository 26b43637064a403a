"""The numbers of one lane beside its rows, with bars against the other lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.widgets import Static

from engine.metrics import Report
from engine.metrics.report import Number
from tuiapp.widgets.bars import bar

NAME, VALUE, BAR = 11, 10, 6
FEW_ROWS = 6


@dataclass(frozen=True, slots=True)
class Meter:
    """A line: `is_brief` ones are shown where there is little room."""

    title: str
    metric: str
    unit: str
    colour: str
    is_brief: bool = True


METERS = (
    Meter("TTFT p50", "ttft_p50_ms", "ms", "$phase-prefill"),
    Meter("TTFT p99", "ttft_p99_ms", "ms", "$phase-prefill"),
    Meter("worst gap", "itl_max_ms", "ms", "$phase-prefill"),
    Meter("E2EL p50", "e2e_p50_ms", "ms", "$phase-prefill", is_brief=False),
    Meter("tokens/s", "out_tps", "", "$phase-decode-ink", is_brief=False),
    Meter("held idle", "held_share", "%", "$phase-held-ink"),
)


class LaneMeters(Static):
    """Redrawn only when a number has changed."""

    DEFAULT_CSS = "LaneMeters { width: 29; height: auto; padding: 0 0 0 1; }"

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._said: Content | None = None

    def show(self, report: Report, others: Sequence[Report], num_rows: int) -> None:
        """Draw a frame.

        Args:
            others: of all lanes, this one included; bars are relative to the largest.
        """
        meters = [meter for meter in METERS if num_rows >= FEW_ROWS or meter.is_brief]
        content = Content("\n").join(_line(meter, report, others) for meter in meters)
        if self._said is None or not content.is_same(self._said):
            self._said = content
            self.update(content)


def show_brief(report: Report) -> str:
    """The same in one line, for a terminal with no room for bars."""
    values = {meter.metric: report.value(meter.metric) for meter in METERS}
    ttft = f"{show(values['ttft_p50_ms'], '')}/{show(values['ttft_p99_ms'], 'ms')}"
    gap, speed = show(values["itl_max_ms"], "ms"), show(values["out_tps"], "")
    return f"TTFT {ttft} gap {gap} {speed} tok/s idle {show(values['held_share'], '%')}"


def show(value: Number, unit: str) -> str:
    """A number as it stands beside its bar; a dash where it is undefined."""
    if value is None:
        return "—"
    if unit == "%":
        return f"{value:.0%}"
    text = f"{value:.0f}" if value >= 10 else f"{value:.1f}"
    return f"{text} {unit}".rstrip()


def _line(meter: Meter, report: Report, others: Sequence[Report]) -> Content:
    value = report.value(meter.metric)
    known = [each for other in others if (each := other.value(meter.metric))]
    most = 1.0 if meter.unit == "%" else max(known, default=0.0)
    filled, rest = bar(value / most if value and most else 0.0, BAR)
    return Content.assemble(
        (f"{meter.title:<{NAME}}", "$muted"),
        (f"{show(value, meter.unit):>{VALUE}} ", "bold"),
        (filled, meter.colour),
        (rest, "$faint"),
    )
