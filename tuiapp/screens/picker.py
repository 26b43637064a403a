"""Choose a workload: its story, its lengths, its arrivals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import Worker, WorkerState

from engine.config import ConfigError
from tuiapp.presets import Preset, Shelf
from tuiapp.screens.dialog import Dialog
from tuiapp.screens.live_keys import closing
from tuiapp.session import Session
from tuiapp.text import one_line
from tuiapp.widgets.hanging import hang
from tuiapp.widgets.lines import describe
from tuiapp.widgets.workload_charts import NAME, draw_workload


@dataclass(frozen=True, slots=True)
class Choice:
    """A workload, and whether it is to be compared rather than played."""

    preset: Preset
    is_to_compare: bool = False


class PickerScreen(Dialog[Choice]):
    """Presets on the left, what the chosen one is like on the right; dismissed with the choice.

    Args:
        read: reads what there is to choose from, in a thread: it may be long traces.
        can_play: the choice can be played as well as compared.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        closing("workload"),
        Binding("q", "close", "Close"),
        Binding("c", "compare", "Compare"),
    ]
    DEFAULT_CSS = """
    PickerScreen #columns { height: 21; max-height: 1fr; margin-top: 1; }
    PickerScreen OptionList { width: 24; height: 100%; border: none; background: $surface; }
    PickerScreen #about { width: 1fr; height: 100%; margin-left: 2; scrollbar-size-vertical: 1; }
    PickerScreen #errors { color: $error; height: auto; max-height: 3; }
    """

    def __init__(
        self, session: Session, read: Callable[[], Shelf], *, can_play: bool = True
    ) -> None:
        keys = "⏎ play   c compare its engines" if can_play else "⏎ compare its engines"
        super().__init__("workload", f"{keys}   ↑↓ choose   esc cancel")
        self._can_play = can_play
        self._session = session
        self._read_shelf = read
        self._presets: dict[str, Preset] = {}

    def compose_body(self) -> ComposeResult:
        with Horizontal(id="columns"):
            yield OptionList(markup=False, compact=True)
            with VerticalScroll(id="about", can_focus=False):
                yield Static("reading the presets …", id="details", markup=False)
        yield Static(id="errors", markup=False)

    def on_mount(self) -> None:
        self.query_one("#errors").display = False
        self.query_one(OptionList).focus()
        self._read()

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._draw)

    @work(thread=True)
    def _read(self) -> Shelf:
        return self._read_shelf()

    @on(Worker.StateChanged)
    def _take(self, event: Worker.StateChanged) -> None:
        """List what was read, and say what could not be."""
        if event.state is not WorkerState.SUCCESS or not isinstance(event.worker.result, Shelf):
            return
        shelf, options = event.worker.result, self.query_one(OptionList)
        self._presets = {preset.name: preset for preset in shelf.presets}
        options.add_options([Option(Content(name), id=name) for name in self._presets])
        if shelf.errors:
            errors = self.query_one("#errors", Static)
            errors.update(Content("\n".join(str(error) for error in shelf.errors)))
            errors.display = True
        if self._presets:
            options.highlighted = 0
        else:
            self.query_one("#details", Static).update(Content("There is no preset."))

    @on(OptionList.OptionHighlighted)
    def _draw(self) -> None:
        """Show what the chosen preset is like, drawn for the width that there is."""
        about, preset = self.query_one("#about"), self._highlighted
        if preset is None:
            return
        width = about.size.width - 1
        self.query_one("#details", Static).update(_details(preset, self._session, width))
        about.scroll_home(animate=False)

    @property
    def _highlighted(self) -> Preset | None:
        options = self.query_one(OptionList)
        if options.highlighted is None:
            return None
        return self._presets[options.get_option_at_index(options.highlighted).id or ""]

    @on(OptionList.OptionSelected)
    def _choose(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(Choice(self._presets[event.option_id or ""], not self._can_play))

    def action_compare(self) -> None:
        """Run the highlighted preset through the engines that it compares."""
        if preset := self._highlighted:
            self.dismiss(Choice(preset, is_to_compare=True))


def _details(preset: Preset, session: Session, width: int) -> Content:
    """The story, what to watch, three pictures of the workload, and the settings it brings."""
    about = preset.about
    engines = ", ".join(variant.name for variant in preset.variants) or "nothing"
    dot = Content.styled("◦ ", "$accent")
    watch = [hang(dot, one_line(text), width) for text in about.watch]
    lines = [
        Content.styled(one_line(about.title), "bold $primary"),
        Content(one_line(about.summary)),
        *([Content.styled("watch", "$muted")] if watch else []),
        *watch,
        draw_workload(preset.drafts, width),
        _fact("requests", f"{len(preset.drafts):,}, under {_settings(preset, session)}", width),
        _fact("compares", one_line(engines), width),
        *(Content.styled(one_line(notice), "$warning") for notice in preset.notices),
        *([_fact("source", one_line(about.source), width)] if about.source else []),
    ]
    return Content("\n").join(lines)


def _settings(preset: Preset, session: Session) -> str:
    try:
        return describe(session.settings_for(preset))
    except ConfigError as error:
        return str(error)


def _fact(name: str, text: str, width: int) -> Content:
    return hang(Content.styled(f"{name:<{NAME}}", "$muted"), text, width)
