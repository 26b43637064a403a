"""Choose the lanes of a comparison: two to four engines, each with any batcher and any knobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from engine.config import ConfigError
from engine.settings import BatcherName, EngineSettings
from tuiapp.keys import Keys
from tuiapp.knobs import next_system, read_systems
from tuiapp.lanes.comparison import MOST
from tuiapp.lanes.draft import Draft, Drafts
from tuiapp.screens.dialog import Dialog
from tuiapp.screens.knobs import KnobsScreen
from tuiapp.text import one_line
from tuiapp.widgets.lines import describe

HINT = "⏎ knobs  1-3 batcher  m system  space show  a add  d drop  r run  esc"
ABOUT = "Every lane gets the same requests at the same moments; those that ran already are kept."
NAME = 30  # cells of a lane's name


@dataclass(frozen=True, slots=True)
class Lineup:
    """What was chosen: settings by lane, and the names of those side by side."""

    entries: Mapping[str, EngineSettings]
    shown: tuple[str, ...]


class LanesScreen(Dialog[Lineup]):
    """Dismissed with the lanes to run, or with nothing.

    Args:
        entries: the lanes that there are, by name.
        shown: names of those side by side.
        keys: for the panel of knobs.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e,q", "close", "Close"),
        Binding("1", "batcher('static')", "Static"),
        Binding("2", "batcher('dynamic')", "Dynamic"),
        Binding("3", "batcher('continuous')", "Continuous"),
        Binding("m", "system", "Named system"),
        Binding("space", "show_lane", "Show"),
        Binding("a", "add", "Add"),
        Binding("d,delete", "drop", "Drop"),
        Binding("r", "run", "Run"),
    ]
    DEFAULT_CSS = """
    LanesScreen > #dialog { width: 110; }
    LanesScreen #about { color: $muted; height: auto; margin: 1 0; }
    LanesScreen OptionList { height: auto; border: none; background: $surface; padding: 0; }
    LanesScreen #problem { color: $warning; height: 1; margin-top: 1; }
    """

    def __init__(
        self, entries: Mapping[str, EngineSettings], shown: Sequence[str], keys: Keys
    ) -> None:
        super().__init__("lanes", HINT)
        self._keys = keys
        self._drafts = Drafts(entries, shown)
        self._systems = read_systems()

    def compose_body(self) -> ComposeResult:
        yield Static(ABOUT, id="about", markup=False)
        yield OptionList(markup=False, compact=True)
        yield Static(id="problem", markup=False)

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()
        self._draw()

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw)

    def _draw(self, problem: str = "") -> None:
        """List the lanes anew; what is highlighted stays so."""
        options = self.query_one(OptionList)
        index = options.highlighted or 0
        options.clear_options()
        names = self._drafts.names()
        options.add_options(
            Option(_line(name, draft))
            for name, draft in zip(names, self._drafts.items, strict=True)
        )
        options.highlighted = min(index, len(names) - 1)
        self.query_one("#problem", Static).update(Content(problem or self._drafts.problem()))

    @property
    def _index(self) -> int:
        return self.query_one(OptionList).highlighted or 0

    @property
    def _draft(self) -> Draft:
        return self._drafts.items[self._index]

    @on(OptionList.OptionSelected)
    def _turn_knobs(self) -> None:
        self.app.push_screen(KnobsScreen(self._draft, self._keys), lambda _: self._draw())

    def action_batcher(self, name: str) -> None:
        self._draft.configure(replace(self._draft.settings, batcher=BatcherName(name)))
        self._draw()

    def action_system(self) -> None:
        """Schedule as the next of the named systems would."""
        settings = self._draft.settings
        try:
            self._draft.act_as(next_system(settings, self._systems))
        except ConfigError as error:
            self._draw(str(error))
        else:
            self._draw()

    def action_show_lane(self) -> None:
        self._drafts.toggle(self._index)
        self._draw()

    def action_add(self) -> None:
        if problem := self._drafts.add(self._index):
            self._draw(problem)
            return
        index = self._index + 1
        is_shown = self._drafts.items[index].is_shown
        self._draw("" if is_shown else f"{MOST} are shown already; space chooses which")
        self.query_one(OptionList).highlighted = index

    def action_drop(self) -> None:
        self._draw(self._drafts.remove(self._index))

    def action_run(self) -> None:
        """Leave with what was chosen, if it can be compared."""
        if problem := self._drafts.problem():
            self._draw(problem)
        else:
            self.dismiss(Lineup(self._drafts.entries(), tuple(self._drafts.shown())))


def _line(name: str, draft: Draft) -> Content:
    """A lane, and what it runs under."""
    mark = ("◦ " if draft.is_shown else "  ", "bold")
    shown = one_line(name)
    short = shown if len(shown) < NAME else f"{shown[: NAME - 2]}…"
    style = "bold" if draft.is_shown else ""
    return Content.assemble(mark, (f"{short:<{NAME}}", style), describe(draft.settings))
