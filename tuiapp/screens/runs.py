"""The runs that were kept: open, replay, compare, delete."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import Worker, WorkerState

from engine.config import ConfigError
from tuiapp.lanes.comparison import MOST, Comparison
from tuiapp.lanes.kept import open_kept
from tuiapp.library.entry import Entry
from tuiapp.library.library import Library
from tuiapp.library.opening import open_recorded
from tuiapp.preferences import USUAL, Preferences
from tuiapp.screens.compare import CompareScreen
from tuiapp.screens.confirm import ConfirmScreen
from tuiapp.screens.dialog import Dialog
from tuiapp.screens.live_keys import closing, keys_of
from tuiapp.screens.replay import ReplayScreen
from tuiapp.screens.report import Again, ReportScreen
from tuiapp.screens.run_pair import RunPairScreen
from tuiapp.session import Session
from tuiapp.widgets.field import Field
from tuiapp.widgets.run_rows import draw_details, draw_entry, draw_heading

HINT = "⏎ report  p replay  space mark  c compare two  l lanes  d delete  / filter  esc close"


class RunsScreen(Dialog[None]):
    """A list of the library, the newest run first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        closing("runs"),
        Binding("q", "close", "Close"),
        Binding("p", "replay", "Replay"),
        Binding("space", "mark", "Mark"),
        Binding("c", "compare", "Compare"),
        Binding("l", "lanes", "Lanes"),
        Binding("d,delete", "delete", "Delete"),
        Binding("slash", "filter", "Filter"),
    ]
    DEFAULT_CSS = """
    RunsScreen > #dialog { width: 116; }
    RunsScreen OptionList { height: auto; max-height: 1fr; border: none; background: $surface; }
    RunsScreen OptionList { min-height: 4; scrollbar-size-vertical: 1; padding: 0; }
    RunsScreen #heading { margin-top: 1; text-wrap: nowrap; }
    RunsScreen #details { height: 2; margin: 1 0; }
    RunsScreen Input { display: none; border: none; height: 1; background: $panel; }
    RunsScreen Input.-open { display: block; }
    """

    def __init__(
        self, library: Library, session: Session, preferences: Preferences = USUAL
    ) -> None:
        super().__init__("runs", HINT)
        self._session = session
        self._library = library
        self._preferences = preferences
        self._entries: dict[str, Entry] = {}
        self._has_looked = False
        self._marked: list[str] = []

    def compose_body(self) -> ComposeResult:
        yield Field(placeholder="filter: preset, engine, model, device", id="filter")
        yield Static(id="heading", markup=False)
        yield OptionList(markup=False, compact=True)
        yield Static("looking …", id="details", markup=False)

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()
        self._read()

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self.draw)

    @work(thread=True, exclusive=True, exit_on_error=False)
    def _read(self) -> list[Entry]:
        return self._library.entries()

    @on(Worker.StateChanged)
    def _take(self, event: Worker.StateChanged) -> None:
        result, error = event.worker.result, event.worker.error
        if event.state is WorkerState.ERROR:
            if not isinstance(error, ConfigError):
                raise error or RuntimeError("the runs could not be read")
            self.notify(str(error), severity="error", markup=False)
            self.draw()
        elif event.state is WorkerState.SUCCESS and isinstance(result, Comparison):
            self._show(result)
        elif event.state is WorkerState.SUCCESS and isinstance(result, list):
            self._has_looked = True
            self._entries = {entry.name: entry for entry in result}
            self._marked = [name for name in self._marked if name in self._entries]
            self.draw()

    def draw(self) -> None:
        """Draw the list anew; what is highlighted stays so."""
        options = self.query_one(OptionList)
        chosen, width = self._chosen(), options.size.width
        self.query_one("#heading", Static).update(draw_heading(width))
        options.clear_options()
        shown = [entry for entry in self._entries.values() if self._matches(entry)]
        for entry in shown:
            row = draw_entry(entry, width, is_marked=entry.name in self._marked)
            options.add_option(Option(row, id=entry.name))
        names = [entry.name for entry in shown]
        if names:
            options.highlighted = names.index(chosen.name) if chosen and chosen.name in names else 0
        elif self._has_looked:
            nothing = "Nothing matches." if self._entries else self._say_none()
            self.query_one("#details", Static).update(Content.styled(nothing, "$muted"))

    def _say_none(self) -> str:
        workload = keys_of(self._preferences)["workload"]
        return f"No run was kept yet: play a preset to its end with {workload}."

    def _matches(self, entry: Entry) -> bool:
        """Whether every word of the filter stands in a run's description."""
        told = (entry.name, entry.preset, entry.variant, entry.engine, entry.model, entry.device)
        kind = "simulated" if entry.is_simulated else ""
        text = " ".join((*told, kind)).lower()
        return all(word in text for word in self.query_one(Input).value.lower().split())

    def _chosen(self) -> Entry | None:
        options = self.query_one(OptionList)
        if options.highlighted is None:
            return None
        return self._entries.get(options.get_option_at_index(options.highlighted).id or "")

    def _openable(self) -> Entry | None:
        """The highlighted run, if it can be opened; else it is said why not."""
        entry = self._chosen()
        if entry and entry.problem:
            self.notify(f"It cannot be opened: {entry.problem}", severity="error", markup=False)
            return None
        return entry

    @on(OptionList.OptionHighlighted)
    def _describe(self, event: OptionList.OptionHighlighted) -> None:
        if entry := self._entries.get(event.option_id or ""):
            self.query_one("#details", Static).update(draw_details(entry))

    @on(OptionList.OptionSelected)
    def _report(self, event: OptionList.OptionSelected) -> None:
        if entry := self._openable():
            load = partial(open_recorded, entry.path, self._library)
            report = ReportScreen(load, ascii_only=self._preferences.ascii)
            self.app.push_screen(report, partial(self._after_report, entry))

    def _after_report(self, entry: Entry, wish: int | Again | None) -> None:
        """Go to the pass that the report was left for."""
        if isinstance(wish, int):
            self._replay(entry, at=wish)
        self._read()  # it may have a report now

    def action_replay(self) -> None:
        if entry := self._openable():
            self._replay(entry)

    def _replay(self, entry: Entry, at: int | None = None) -> None:
        try:
            replay = ReplayScreen(entry.path, at, self._preferences)
        except ConfigError as error:
            self.notify(str(error), severity="error", markup=False)
        else:
            self.app.push_screen(replay)

    def action_mark(self) -> None:
        """Mark a run to be compared; where too many are, the first mark goes."""
        entry = self._openable()
        if entry is None:
            return
        if entry.name in self._marked:
            self._marked.remove(entry.name)
        else:
            self._marked = [*self._marked, entry.name][-MOST:]
        self.draw()

    def action_compare(self) -> None:
        """Show the two marked runs, or the marked one and the highlighted one."""
        pair = self._picked()
        if len(pair) > 2:
            self.notify("Of more than two there is no table: l shows them as lanes", timeout=3)
        elif len(pair) < 2 or any(not entry.run for entry in pair):
            self.notify("Mark two runs that have a report with space first", timeout=3)
        else:
            self.app.push_screen(RunPairScreen(*pair), self._after_pair)

    def _picked(self) -> list[Entry]:
        """The marked runs, the oldest first; a single one together with the highlighted one."""
        chosen = self._chosen()
        names = set(self._marked)
        if len(names) < 2 and chosen:
            names.add(chosen.name)
        return [self._entries[name] for name in sorted(names)]

    def _after_pair(self, has_lanes: bool | None) -> None:
        if has_lanes:
            self.action_lanes()

    def action_lanes(self) -> None:
        """Show the marked runs on one time axis, request by request with a ghost."""
        runs = [entry for entry in self._picked() if not entry.problem]
        if len(runs) < 2:
            self.notify("Mark two to four runs with space first", timeout=3)
            return
        self.query_one("#details", Static).update("reading …")
        self._open(runs)

    @work(thread=True, exclusive=True, exit_on_error=False)
    def _open(self, runs: list[Entry]) -> Comparison:
        return open_kept(runs)

    def _show(self, comparison: Comparison) -> None:
        screen = CompareScreen(self._session, comparison, keys_of(self._preferences))
        self.app.push_screen(screen, lambda _: self.draw())

    def action_delete(self) -> None:
        if entry := self._chosen():
            question = f"Delete {entry.path.name} and its report for good?"
            screen = ConfirmScreen("delete a run", question)
            self.app.push_screen(screen, partial(self._delete, entry))

    def _delete(self, entry: Entry, is_sure: bool | None) -> None:
        if not is_sure:
            return
        try:
            self._library.delete(entry.path)
        except ConfigError as error:
            self.notify(str(error), severity="error", markup=False)
        self._read()

    def action_filter(self) -> None:
        box = self.query_one(Input)
        box.add_class("-open")
        box.focus()

    @on(Input.Changed)
    def _filter(self) -> None:
        self.draw()

    @on(Input.Submitted)
    def _end_filter(self) -> None:
        self.query_one(OptionList).focus()

    def action_close(self) -> None:
        """Leave the filter first, then the list."""
        box = self.query_one(Input)
        if box.has_class("-open"):
            box.value = ""
            box.remove_class("-open")
            self.query_one(OptionList).focus()
        else:
            self.dismiss()
