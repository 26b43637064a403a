"""What is made of the device: its own number beside those that do not lie the same way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from engine.events import EngineInfo, Gauges
from tuiapp.screens.dialog import Dialog
from tuiapp.session import Session
from tuiapp.text import one_line
from tuiapp.utilisation import Reading, Use, Utilisation
from tuiapp.widgets.bars import spark

REFRESH_SECONDS = 0.5
NAME_WIDTH, VALUE_WIDTH = 14, 16
MOST_TREND = 60


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a measure says, and when it misleads."""

    means: str
    lies: str


NVML = Meaning(
    "the driver's number: the share of a recent fraction of a second in which any kernel ran",
    "one small kernel after another reads 100 %; it never says how full the device was",
)
CPU = Meaning(
    "this process's share of all cores, since the last reading",
    "a core that waits for memory counts as busy, and so does drawing this screen",
)
ENGINE = Meaning(
    "the share of the time in which a forward pass ran",
    "a pass over padding is a pass too; and a device that waits inside a pass counts as busy",
)
SLOTS = Meaning(
    "slots whose sequence had tokens to make, while passes ran",
    "the number of slots is a setting: halve it and this doubles, with nothing gained",
)
USEFUL = Meaning(
    "token positions computed that were no padding and no dead row",
    "it says nothing of speed, and tokens computed again after a preemption count as useful",
)
MBU = Meaning(
    "bytes of weights and KV cache that passes had to read, of what memory could deliver",
    "passes full of prompt tokens are bound by arithmetic, and read low without any fault",
)
MFU = Meaning(
    "2 × parameters × tokens, of what the device could compute meanwhile",
    "decoding is bound by memory: a few per cent are its nature; attention is left out",
)
POWER = Meaning(
    "what the device draws",
    "drivers average it; a device that waits for memory draws less, though it cannot do more",
)
MEMORY = Meaning(
    "memory in use on the device, whoever uses it",
    "the KV cache is taken in advance: full memory is no full cache",
)
RESIDENT = Meaning(
    "memory of this process, of all in the machine",
    "the KV cache is taken in advance, and counts from its first use on",
)


class UtilisationScreen(Dialog[None]):
    """Trends of the last half minute, each with its meaning."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("u,q", "close", "Close")]
    DEFAULT_CSS = """
    UtilisationScreen > #dialog { width: 108; }
    UtilisationScreen #uses { height: auto; max-height: 1fr; scrollbar-size-vertical: 1; }
    """

    def __init__(self, session: Session, info: EngineInfo) -> None:
        simulated = ", simulated" if info.is_simulated else ""
        title = f"use of {one_line(info.device)}{simulated}"
        super().__init__(title, "each column is half a second   esc close")
        self._session = session
        self._info = info
        self._use = Utilisation(session.backend.log)
        self._use.note(info)

    def compose_body(self) -> ComposeResult:
        with VerticalScroll(id="uses"):
            yield Static(id="text", markup=False)

    def on_mount(self) -> None:
        self.set_interval(REFRESH_SECONDS, self.draw)
        self.draw()

    def on_resize(self) -> None:
        self.call_after_refresh(self.draw)

    def draw(self) -> None:
        """Show how things stand."""
        reading = self._use.poll(self._session.backend.now())
        width = self.query_one("#uses").size.width - NAME_WIDTH - VALUE_WIDTH - 3
        self.query_one("#text", Static).update(_text(reading, self._info, max(8, width)))


def _text(reading: Reading, info: EngineInfo, width: int) -> Content:
    gauges = reading.gauges
    name = gauges.name if gauges else "GPU" if info.device_uuid else "CPU"
    is_gpu = name == "GPU"
    no_peaks = "" if reading.has_peaks else f"n/a: no peaks known of {one_line(info.device)}"
    power = "" if reading.power.now is not None else f"n/a: {name} does not say"
    rows = [
        _row(f"{name} busy", reading.device_busy, NVML if is_gpu else CPU, width),
        _row("engine busy", reading.engine_busy, ENGINE, width),
        _row("slots busy", reading.slots_busy, SLOTS, width),
        _row("useful tokens", reading.useful, USEFUL, width),
        _row("MBU", reading.mbu, MBU, width, problem=no_peaks),
        _row("MFU", reading.mfu, MFU, width, problem=no_peaks),
        _row("power", reading.power, POWER, width, value=_watts(reading.power), problem=power),
        _row(
            f"{name} memory",
            reading.memory,
            MEMORY if is_gpu else RESIDENT,
            width,
            value=_memory(gauges),
        ),
    ]
    return Content("\n").join(rows)


def _row(
    name: str, use: Use, meaning: Meaning, width: int, *, value: str = "", problem: str = ""
) -> Content:
    """Three lines: the number with its trend, what it means, when it lies."""
    value = value or ("—" if use.now is None else f"{use.now:.1%}")
    top = 1.0 if max((n or 0.0 for n in use.trend), default=0.0) <= 1.0 else None
    trend = spark([number or 0.0 for number in use.trend], min(width, MOST_TREND), top=top)
    head = Content.assemble(
        (f"{name:<{NAME_WIDTH}}", "bold"),
        (problem, "$muted") if problem else (f"{value:>{VALUE_WIDTH}}", "bold $primary"),
        "" if problem else "  ",
        ("" if problem else trend, "$phase-decode-ink"),
    )
    return Content("\n").join(
        [
            head,
            Content.assemble(("  is   ", "$muted"), meaning.means),
            Content.assemble(("  lies ", "$warning"), (meaning.lies, "$muted")),
        ]
    )


def _watts(use: Use) -> str:
    return "—" if use.now is None else f"{use.now:.0f} W"


def _memory(gauges: Gauges | None) -> str:
    if gauges is None:
        return "—"
    return f"{gauges.memory_used / 2**30:.1f} / {gauges.memory_total / 2**30:.0f} GiB"
