"""The report of a run: its numbers, its claims, its slowest requests, its worst gap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import Worker, WorkerState, get_current_worker

from engine.backends.still import StillBackend
from engine.config import ConfigError
from engine.tokenizer import Tokenizer
from tuiapp.export.timeline import span_of
from tuiapp.library.exporting import export
from tuiapp.library.findings import Findings
from tuiapp.library.opening import Opened
from tuiapp.presets import Preset
from tuiapp.reports.as_text import to_markdown
from tuiapp.screens.inspect import InspectScreen
from tuiapp.screens.live_keys import closing
from tuiapp.session import Session
from tuiapp.text import one_line
from tuiapp.view.rewind import open_log
from tuiapp.widgets.key_bar import KeyBar
from tuiapp.widgets.lines import Line
from tuiapp.widgets.report_frame import draw_kept, draw_settings, draw_title
from tuiapp.widgets.report_parts import (
    draw_claims,
    draw_facts,
    draw_headline,
    draw_latencies,
    draw_request,
    draw_slo,
    draw_worst,
    missing_engines,
)
from tuiapp.widgets.whole_run import draw_whole_run

MOST_SLOTS = 16


@dataclass(frozen=True, slots=True)
class Again:
    """The wish to run the same preset under another engine."""

    preset: Preset
    variant: str


class ReportScreen(Screen[int | Again | None]):
    """Adds a run up beside the screen, then shows it.

    It is dismissed with a pass to go to, with a run to make next, or with None.

    Args:
        load: measures the run, in a thread of its own.
        tokenizer: makes text of the prompts of inspected requests.
        can_run: there is an engine that could run the preset again.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", "Back", key_display="esc"),
        closing("report"),
        Binding("enter", "inspect", "Inspect", key_display="⏎"),
        Binding("g", "worst_gap", "Worst gap", tooltip="Show the pass that held it up"),
        Binding("j", "export('json')", "JSON", tooltip="Save as JSON"),
        Binding("v", "export('csv')", "CSV", tooltip="Save as CSV"),
        Binding("h", "export('html')", "HTML", tooltip="Save as a page"),
        Binding("m", "copy", "Markdown", tooltip="Copy as Markdown"),
        Binding("n", "next_engine", "Next engine", tooltip="Run it under the next one it compares"),
        Binding("pageup", "page(-1)", "Up", show=False, priority=True),
        Binding("pagedown", "page(1)", "Down", show=False, priority=True),
    ]
    DEFAULT_CSS = """
    ReportScreen { background: $background; }
    ReportScreen #title { background: $panel; }
    ReportScreen #parts { height: 1fr; padding: 0 1; scrollbar-size-vertical: 1; }
    ReportScreen #parts > Static { height: auto; margin-top: 1; }
    ReportScreen #slowest { height: auto; max-height: 7; border: none; scrollbar-size-vertical: 1; }
    ReportScreen #slowest { background: $background; margin-top: 0; }
    ReportScreen .heading { color: $primary; text-style: bold; }
    ReportScreen Footer { dock: none; }
    """

    def __init__(
        self,
        load: Callable[[], Opened],
        *,
        tokenizer: Tokenizer | None = None,
        ascii_only: bool = False,
        can_run: bool = False,
    ) -> None:
        super().__init__()
        self._load = load
        self._tokenizer = tokenizer
        self._ascii_only = ascii_only
        self._can_run = can_run
        self.opened: Opened | None = None

    def compose(self) -> ComposeResult:
        yield Line(id="title")
        with VerticalScroll(id="parts", can_focus=False):
            yield Static("adding the run up …", id="headline", markup=False)
            yield Static(id="latencies", markup=False)
            yield Static(id="facts", markup=False)
            yield Static(id="claims", markup=False)
            yield Static(id="slowest-title", classes="heading", markup=False)
            yield OptionList(id="slowest", markup=False, compact=True)
            yield Static(id="worst", markup=False)
            yield Static(id="run", markup=False)
            yield Static(id="settings", markup=False)
            yield Static(id="kept", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#title", Line).say(Content.styled("▚ batchscope   report", "bold $primary"))
        self._measure()

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self.draw)

    @work(thread=True, exclusive=True, exit_on_error=False)
    def _measure(self) -> Opened | None:
        opened = self._load()
        return None if get_current_worker().is_cancelled else opened

    @on(Worker.StateChanged)
    def _show(self, event: Worker.StateChanged) -> None:
        """Take over what was measured, or say why it could not be."""
        if event.state is WorkerState.SUCCESS and isinstance(event.worker.result, Opened):
            self.opened = event.worker.result
            self._fill_list()
            self.draw()
        elif event.state is WorkerState.ERROR:
            error = event.worker.error
            if not isinstance(error, ConfigError):
                raise error or RuntimeError("the run could not be added up")
            self.query_one("#headline", Static).update(Content(one_line(str(error))))

    def _fill_list(self) -> None:
        findings = self.opened.findings if self.opened else None
        if findings:
            options = [Option(draw_request(each), id=each.id) for each in findings.slowest]
            slowest = self.query_one("#slowest", OptionList)
            slowest.add_options(options)
            slowest.highlighted = 0
            slowest.focus(scroll_visible=False)

    def draw(self) -> None:
        """Draw all parts for the width that there is."""
        if self.opened is None:
            return
        findings = self.opened.findings
        if findings is None:
            self.query_one("#headline", Static).update(Content("No request has arrived yet."))
            return
        width = self.query_one("#parts").size.width - 3
        parts = {
            "#headline": draw_headline(findings),
            "#latencies": draw_latencies(findings, width),
            "#facts": Content("\n").join([draw_facts(findings, width), draw_slo(findings)]),
            "#claims": draw_claims(findings),
            "#slowest-title": Content.assemble("slowest requests", ("   ⏎ inspect", "$muted")),
            "#worst": draw_worst(findings),
            "#run": self._draw_run(findings, width),
            "#settings": draw_settings(findings),
            "#kept": draw_kept(self.opened),
        }
        for selector, content in parts.items():
            part = self.query_one(selector, Static)
            part.display = content is not None
            part.update(content or Content(""))
        self.query_one("#title", Line).say(draw_title(findings))
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The next engine can be run only where there is one to run it on."""
        return action != "next_engine" or bool(self._next_engines())

    def _next_engines(self) -> list[str]:
        findings = self.opened.findings if self.opened else None
        return missing_engines(findings) if findings and self._can_run else []

    def _draw_run(self, findings: Findings, width: int) -> Content | None:
        raster = findings.sketch.raster
        if not raster.slots:
            return None
        drawn = draw_whole_run(
            raster, span_of(raster), width, MOST_SLOTS, ascii_only=self._ascii_only
        )
        return Content("\n").join([Content.styled("whole run", "bold $primary"), drawn])

    def action_close(self) -> None:
        self.dismiss(None)

    def action_next_engine(self) -> None:
        findings = self.opened.findings if self.opened else None
        if findings and findings.subject.preset and (engines := self._next_engines()):
            self.dismiss(Again(findings.subject.preset, engines[0]))

    def action_page(self, pages: int) -> None:
        parts = self.query_one("#parts", VerticalScroll)
        parts.scroll_relative(y=pages * (parts.size.height - 2), animate=False)

    @on(OptionList.OptionSelected)
    def _inspect_chosen(self, event: OptionList.OptionSelected) -> None:
        self._inspect(event.option_id or "")

    def action_inspect(self) -> None:
        slowest = self.query_one("#slowest", OptionList)
        if slowest.highlighted is not None:
            self._inspect(slowest.get_option_at_index(slowest.highlighted).id or "")

    def _inspect(self, request_id: str) -> None:
        """Open one request's life, read from the events of this run alone."""
        if not self.opened or not self.opened.findings:
            return
        backend = StillBackend(self.opened.events, self._tokenizer)
        rewind = open_log(backend.log)
        rewind.poll(backend.now())
        session = Session(backend, self.opened.findings.outcome.settings, replay=backend)
        self.app.push_screen(InspectScreen(rewind, session, request_id), self._go_to)

    def _go_to(self, number: int | None) -> None:
        if number is not None:
            self.dismiss(number)

    def action_worst_gap(self) -> None:
        worst = self.opened.findings.worst if self.opened and self.opened.findings else None
        if worst is None:
            self.notify("There is no gap between two tokens", timeout=2)
        else:
            self.dismiss(worst.gap.longest)

    def action_export(self, form: str) -> None:
        """Save the report where the command was started, and say where that is."""
        if not self.opened or not self.opened.findings:
            return
        try:
            path = export(self.opened.findings, form)
        except OSError as error:
            self.notify(f"Not saved: {error}", severity="error", markup=False)
        else:
            self.notify(f"Saved {path}", markup=False)

    def action_copy(self) -> None:
        if self.opened and self.opened.findings:
            self.app.copy_to_clipboard(to_markdown(self.opened.findings.study))
            self.notify("Copied as Markdown", timeout=2)
