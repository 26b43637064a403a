"""Choose a workload: its story, its lengths, its arrivals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from engine.config import ConfigError
from tuiapp.presets import Preset, Shelf
from tuiapp.screens.dialog import Dialog
from tuiapp.session import Session
from tuiapp.text import one_line
from tuiapp.widgets.bars import histogram
from tuiapp.widgets.lines import describe

MOST_BINS = 40


class PickerScreen(Dialog[Preset]):
    """Presets on the left, what the chosen one is like on the right; dismissed with the choice.

    Args:
        shelf: what there is to choose from.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("w,q", "close", "Close")]
    DEFAULT_CSS = """
    PickerScreen #columns { height: 19; max-height: 1fr; margin-top: 1; }
    PickerScreen OptionList { width: 24; height: 100%; border: none; background: $surface; }
    PickerScreen #about { width: 1fr; height: 100%; margin-left: 2; }
    PickerScreen #errors { color: $error; height: auto; max-height: 3; }
    """

    def __init__(self, session: Session, shelf: Shelf) -> None:
        super().__init__("workload", "enter run   ↑↓ choose   esc cancel")
        self._session = session
        self._presets = {preset.name: preset for preset in shelf.presets}
        self._errors = shelf.errors

    def compose_body(self) -> ComposeResult:
        with Horizontal(id="columns"):
            options = [Option(Content(name), id=name) for name in self._presets]
            yield OptionList(*options, markup=False, compact=True)
            with VerticalScroll(id="about", can_focus=False):
                yield Static(id="details", markup=False)
        if self._errors:
            yield Static(Content("\n".join(str(error) for error in self._errors)), id="errors")

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()

    @on(OptionList.OptionHighlighted)
    def _show(self, event: OptionList.OptionHighlighted) -> None:
        preset = self._presets[event.option_id or ""]
        details = self.query_one("#details", Static)
        num_bins = max(8, min(MOST_BINS, details.size.width - 30))
        details.update(_details(preset, self._session, num_bins))

    @on(OptionList.OptionSelected)
    def _choose(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._presets[event.option_id or ""])


def _details(preset: Preset, session: Session, num_bins: int) -> Content:
    """The story, three pictures of the workload, and the settings it brings."""
    about, drafts = preset.about, preset.drafts
    prompts = [d.num_prompt_tokens for d in drafts if d.num_prompt_tokens is not None]
    outputs = [d.num_output_tokens for d in drafts if d.num_output_tokens is not None]
    lines = [
        Content.styled(one_line(about.title), "bold $primary"),
        Content(one_line(about.summary)),
        Content(""),
        *(Content.assemble(("◦ ", "$accent"), one_line(text)) for text in about.watch),
        Content(""),
        _picture("prompt tokens", prompts, num_bins, "$phase-prefill"),
        _picture("output tokens", outputs, num_bins, "$phase-decode-ink"),
        _picture("arrivals, s", [d.arrival for d in drafts if not d.follows], num_bins, "$success"),
        Content(""),
        _fact("requests", str(len(drafts))),
        _fact("runs under", _settings(preset, session)),
        _fact("source", one_line(about.source)),
    ]
    return Content("\n").join(lines)


def _settings(preset: Preset, session: Session) -> str:
    try:
        return describe(session.settings_for(preset))
    except ConfigError as error:
        return str(error)


def _picture(name: str, values: Sequence[float], num_bins: int, colour: str) -> Content:
    """A histogram between the least and the most."""
    if not values:
        return _fact(name, "as the text gives")
    low, high = min(values), max(values)
    if low == high:
        return _fact(name, f"{low:g} each")
    return Content.assemble(
        (f"{name:<14}", "$muted"),
        f"{low:>6.3g} ",
        (histogram(values, num_bins), colour),
        f" {high:.4g}",
    )


def _fact(name: str, text: str) -> Content:
    return Content.assemble((f"{name:<14}", "$muted"), text)
