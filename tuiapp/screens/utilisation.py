"""What is made of the device: its own number beside those that do not lie the same way."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from engine.events import EngineInfo
from tuiapp.keys import Keys
from tuiapp.screens.dialog import Dialog
from tuiapp.screens.live_keys import closing
from tuiapp.session import Session
from tuiapp.text import one_line
from tuiapp.view.device import name_device
from tuiapp.view.rewind import Rewind, tell_pass
from tuiapp.view.use_row import UseRow
from tuiapp.view.use_table import use_rows
from tuiapp.view.utilisation import Utilisation
from tuiapp.widgets.bars import spark
from tuiapp.widgets.hanging import hang

REFRESH_SECONDS = 0.5
NAME_WIDTH, VALUE_WIDTH = 15, 15
MOST_TREND = 60


class UtilisationScreen(Dialog[None]):
    """Trends of the half minute before the moment that is shown, each with its meaning.

    It follows the engine, or stays at the pass that was gone back to.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        closing("utilisation"),
        Binding("q", "close", "Close"),
    ]
    DEFAULT_CSS = """
    UtilisationScreen > #dialog { width: 108; }
    UtilisationScreen #uses { height: auto; max-height: 1fr; scrollbar-size-vertical: 1; }
    UtilisationScreen #uses { scrollbar-gutter: stable; }
    """

    def __init__(self, rewind: Rewind, session: Session, info: EngineInfo, keys: Keys) -> None:
        title = f"use of {name_device(info)}{tell_pass(rewind)}"
        super().__init__(title, "each column is half a second   esc close")
        self._shown = rewind.snapshot.time if rewind.at else None
        self._session = session
        self._info = info
        self._keys = keys
        self._use = Utilisation(rewind.log, rewind.position)
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
        now = self._session.backend.now() if self._shown is None else self._shown
        reading = self._use.poll(now)
        width = self.query_one("#uses").scrollable_content_region.width
        rows = [_show(row, width) for row in use_rows(reading, self._info, self._keys)]
        self.query_one("#text", Static).update(Content("\n").join(rows))


def _show(row: UseRow, width: int) -> Content:
    """Three lines: the number with its trend, what it means, when it lies."""
    use, room = row.use, max(8, width - NAME_WIDTH - VALUE_WIDTH - 3)
    value = row.value or ("—" if use.now is None else f"{use.now:.1%}")
    top = 1.0 if max((n or 0.0 for n in use.trend), default=0.0) <= 1.0 else None
    trend = spark([number or 0.0 for number in use.trend], min(room, MOST_TREND), top=top)
    head = Content.assemble(
        (f"{row.name:<{NAME_WIDTH}}", "bold"),
        (one_line(row.problem), "$muted")
        if row.problem
        else (f"{value:>{VALUE_WIDTH}}", "bold $primary"),
        "" if row.problem else "  ",
        ("" if row.problem else trend, "$phase-decode-ink"),
    )
    return Content("\n").join(
        [
            head,
            hang(Content.styled("  is   ", "$muted"), one_line(row.means), width),
            hang(Content.styled("  lies ", "$warning"), row.lies, width, "$muted"),
        ]
    )
