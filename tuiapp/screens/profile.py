"""Where the host's time goes, pass by pass: stacked bars, and a line on each phase."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from engine.events import EngineInfo
from engine.metrics.host_time import PHASES, Cycle, HostReport, PhaseTime
from tuiapp.counting import counted
from tuiapp.screens.dialog import Dialog
from tuiapp.screens.live_keys import closing
from tuiapp.view.device import name_device
from tuiapp.view.host_phases import WORDS
from tuiapp.view.profile import Profile, stack
from tuiapp.view.rewind import Rewind, tell_pass
from tuiapp.view.way import tell_way
from tuiapp.widgets.hanging import hang

REFRESH_SECONDS = 0.5
HEIGHT, SMALL_HEIGHT = 10, 6
TALL_SCREEN = 30  # lines from which on there is room for high bars and all phases
SCALE_WIDTH = 10
SCROLLBAR_WIDTH = 1
COLOURS = {
    "schedule": "#001a12 on #009E73",
    "prepare": "#3a2800 on #E69F00",
    "launch": "#a8d8f8 on #0a4f80",
    "sample": "#2b0019 on #CC79A7",
    "wait": "#06121c on #56B4E9",
    "detokenise": "#2a2600 on #F0E442",
    "apply": "#c4a494 on #40302a",
    "log": "#2b0d00 on #D55E00",
    "other": "#dddddd on #5a5a5a",
}


class ProfileScreen(Dialog[None]):
    """The passes before the moment that is shown, each from its begin to the begin of the next.

    It follows the engine, or stays at the pass that was gone back to.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        closing("profile"),
        Binding("q", "close", "Close"),
    ]
    DEFAULT_CSS = """
    ProfileScreen > #dialog { width: 108; }
    ProfileScreen #profile { height: auto; max-height: 1fr; scrollbar-size-vertical: 1; }
    ProfileScreen #profile { scrollbar-gutter: stable; }
    ProfileScreen #bars, ProfileScreen #phases { height: auto; }
    ProfileScreen #bars { text-wrap: nowrap; }
    """

    def __init__(self, rewind: Rewind, info: EngineInfo) -> None:
        title = f"time of a pass on {name_device(info)}{tell_pass(rewind)}"
        super().__init__(title, "a column is a pass, begin to begin   esc close")
        self._info = info
        self._profile = Profile(rewind.log, rewind.position)

    def compose_body(self) -> ComposeResult:
        with VerticalScroll(id="profile"):
            yield Static(id="bars", markup=False)
            yield Static(id="phases", markup=False)

    def on_mount(self) -> None:
        self.set_interval(REFRESH_SECONDS, self.draw)
        self.draw()

    def on_resize(self) -> None:
        self.call_after_refresh(self.draw)

    def draw(self) -> None:
        """Show how things stand."""
        report = self._profile.poll()
        width = self.query_one("#dialog").content_size.width - SCALE_WIDTH - 1 - SCROLLBAR_WIDTH
        bars, phases = self.query_one("#bars", Static), self.query_one("#phases", Static)
        if report is None:
            bars.update(Content.styled("no two passes in a row yet", "$muted"))
            phases.update("")
            return
        height = HEIGHT if self.size.height >= TALL_SCREEN else SMALL_HEIGHT
        cycles = self._profile.cycles()[-max(8, width) :]
        bars.update(_draw_bars(cycles, report.cycle.p95, max(8, width), height))
        room = self.query_one("#profile").scrollable_content_region.width
        phases.update(_describe(report, self._info, room))


def _draw_bars(cycles: list[Cycle], top: float, width: int, height: int) -> Content:
    """Columns side by side, with the seconds that the height stands for."""
    columns = [stack(cycle, top, height) for cycle in cycles]
    scales = {height - 1: _time(top), height // 2 - 1: _time(top / 2)}
    lines = []
    for level in reversed(range(height)):
        scale = scales.get(level, "")
        cells = [_cell(column, level) for column in columns]
        padding = (" " * (width - len(cells)), "")
        lines.append(Content.assemble((f"{scale:>{SCALE_WIDTH}} ", "$muted"), padding, *cells))
    return Content("\n").join(lines)


def _cell(column: list[int], level: int) -> tuple[str, str]:
    if level >= len(column):
        return " ", ""
    name = PHASES[column[level]]
    return WORDS[name].letter, COLOURS[name]


def _describe(report: HostReport, info: EngineInfo, width: int) -> Content:
    """A row for each phase, and for all of them together."""
    passes = counted(report.cycle.n, "pass")
    head = f"{'':18}{'share':>7}{'median':>10}{'p99':>10}   of the last {passes}"
    rows = [Content.styled(head, "$muted"), *(_row(phase, width) for phase in report.phases)]
    whole = report.cycle
    total = f"  {'whole pass':<16}{'':>7}{_time(whole.p50):>10}{_time(whole.p99):>10}"
    rows.append(Content.styled(total, "bold"))
    if info.is_simulated:
        rows.append(Content.styled("simulated: the device's time is a cost model's", "$warning"))
    else:
        rows.append(Content.styled(tell_way(info), "$muted"))
    return Content("\n").join(rows)


def _row(phase: PhaseTime, width: int) -> Content:
    words = WORDS[phase.name]
    lead = Content.assemble(
        (words.letter, COLOURS[phase.name]),
        (f" {words.name:<16}", "bold"),
        (f"{phase.share:>7.1%}", "bold $primary"),
        f"{_time(phase.spread.p50):>10}{_time(phase.spread.p99):>10}   ",
    )
    return hang(lead, words.means, width, "$muted")


def _time(seconds: float) -> str:
    """To three digits or so, in the unit that suits."""
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} µs"
