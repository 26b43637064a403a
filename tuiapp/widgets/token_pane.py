"""One slot's token stream: its tail, without markup, controls or flicker.

A finished line becomes one cached strip, and a token that does not wrap repaints one row.
"""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.content import Content
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from engine.request import COMPLETE
from engine.settings import Delivery
from tuiapp.text import clean
from tuiapp.view.tracked import RequestView
from tuiapp.widgets.border import set_subtitle
from tuiapp.widgets.picked import Picked
from tuiapp.widgets.wrapping import WrappedText

CARET = "▏"


class TokenPane(Widget):
    """Shows what a slot's request has generated, and whether its client has it yet.

    A slot that became free keeps the text of its last owner, dimmed, until the next one comes.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "pane--text",
        "pane--fresh",
        "pane--pending",
        "pane--caret",
        "pane--over",
    }
    HELP = (
        "What a slot's request has generated. Yellow is new; in italics is what its client does "
        "not have yet, since the answer is delivered when the batch ends; a slot that is free "
        "keeps the words of its last request, dimmed. A click opens the request's life."
    )
    can_focus = True
    DEFAULT_CSS = """
    TokenPane {
        height: 1fr;
        width: 1fr;
        border: round $border-blurred;
        border-title-color: $muted;
        border-subtitle-color: $muted;
        .pane--text { color: $text; }
        .pane--fresh { color: $accent; text-style: bold; }
        .pane--pending { color: $muted; text-style: italic; }
        .pane--caret { color: $accent; }
        .pane--over { color: $muted; }
    }
    TokenPane.-live { border: round $secondary; border-title-color: $text; }
    TokenPane.-held { border: round $phase-held-ink; border-title-color: $phase-held-ink; }
    TokenPane.-mine { border: round $accent; border-title-color: $accent; }
    TokenPane:focus { border: heavy $primary; }
    """

    def __init__(self, slot: int) -> None:
        super().__init__()
        self.slot = slot
        self.request_id: str | None = None
        self._source = ""  # the text as the engine gave it
        self._source_start = 0
        self._wrapped = WrappedText(1)
        self._strips: dict[int, Strip] = {}  # by line number, dropped lines counted
        self._fresh = 0  # characters of the current line that just came
        self._is_live = False
        self._is_pending = False
        self._is_over = False
        self._label = ("", "")
        self._subtitle = ""
        self._styles: tuple[Style, ...] = ()

    def show(
        self,
        view: RequestView | None,
        delivery: Delivery,
        *,
        is_mine: bool,
        is_over: bool = False,
    ) -> None:
        """Draw a frame: the request that holds the slot, or the one that held it last.

        Args:
            view: None if nobody held it yet.
            is_over: the slot is free again.
        """
        if view is None:
            self._empty()
            return
        if view.id != self.request_id:
            self._clear(view.id)
        is_live = view.reason is None and not is_over
        is_pending = not view.is_delivered and delivery is Delivery.BATCH
        look = (is_live, is_pending, is_over)
        if look != (self._is_live, self._is_pending, self._is_over):
            self._is_live, self._is_pending, self._is_over = look
            self._strips.clear()
            self.refresh()
        self._follow(view)
        if is_over:
            self._describe(_last_title(view), _subtitle(view, is_pending=False), "-over")
        else:
            self._describe(_title(view), _subtitle(view, is_pending), _class(view, is_mine))

    def on_click(self) -> None:
        if self.request_id is not None:
            self.post_message(Picked(self.request_id))

    def on_resize(self) -> None:
        if self.size.width > 0 and self.size.width != self._wrapped.width:
            self._wrap_again()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles = ()
        self._strips.clear()

    def render_line(self, y: int) -> Strip:
        width, height = self.size
        if not self._styles:
            names = ("text", "fresh", "pending", "caret", "over")
            self._styles = tuple(self.get_component_rich_style(f"pane--{name}") for name in names)
        text = self._styles[2 if self._is_pending else 4 if self._is_over else 0]
        done = self._wrapped.done
        line = y + max(0, len(done) + 1 - height)
        if line < len(done):
            return self._done_strip(line, text)
        if line == len(done):
            return self._current_strip(text)
        return Strip.blank(width, text)

    def _empty(self) -> None:
        if self.request_id is not None:
            self._clear(None)
            self._describe("", "", "")

    def _clear(self, request_id: str | None) -> None:
        self.request_id = request_id
        self._source, self._source_start = "", 0
        self._is_live = self._is_pending = self._is_over = False
        self._wrap_again()

    def _wrap_again(self) -> None:
        self._wrapped = WrappedText(self.size.width)
        self._wrapped.add(clean(self._source))
        self._strips.clear()
        self._fresh = 0
        self.refresh()

    def _follow(self, view: RequestView) -> None:
        """Add what is new in the text; begin again if it is not the old text gone on."""
        end = self._source_start + len(self._source)
        new = view.text[end - view.text_start :] if end >= view.text_start else ""
        self._source, old, self._source_start = view.text, self._source, view.text_start
        if not new:
            is_shorter = view.text_start + len(view.text) < end
            if is_shorter and old.startswith(view.text) and _is_plain(old):
                self._shorten(view.text)
            elif is_shorter or not view.text.endswith(old[-20:]):
                self._wrap_again()
            return
        wrapped, before = self._wrapped, self._wrapped.num_lines
        length, row = len(wrapped.current), len(wrapped.done)
        wrapped.add(clean(new))
        num_new, height = wrapped.num_lines - before, max(1, self.size.height)
        self._fresh = len(wrapped.current) - (0 if num_new else length)
        has_scrolled = num_new and row + num_new >= height
        top = 0 if has_scrolled else min(row, height - 1)
        bottom = min(row + num_new, height - 1)
        self.refresh(Region(0, top, self.size.width, bottom - top + 1))

    def _shorten(self, text: str) -> None:
        """Take back what came last, where time goes back."""
        wrapped = self._wrapped
        wrapped.cut(text)
        last = wrapped.num_dropped + len(wrapped.done)
        self._strips = {line: strip for line, strip in self._strips.items() if line < last}
        self._fresh = 0
        self.refresh(Region(0, 0, *self.size))

    def _describe(self, title: str, subtitle: str, state: str) -> None:
        """Set title, subtitle and class, each only when it changed: setting repaints."""
        if (title, state) != self._label:
            self._label = (title, state)
            self.border_title = Content(title)
            self.set_classes(state)
        if subtitle != self._subtitle:
            self._subtitle = subtitle
            set_subtitle(self, subtitle)

    def _done_strip(self, line: int, style: Style) -> Strip:
        key = line + self._wrapped.num_dropped
        strip = self._strips.get(key)
        if strip is None:
            text = self._wrapped.done[line]
            pad = " " * (self.size.width - cell_len(text))
            strip = self._strips[key] = Strip([Segment(text + pad, style)], self.size.width)
        return strip

    def _current_strip(self, style: Style) -> Strip:
        current, width = self._wrapped.current, self.size.width
        cut = len(current) - self._fresh if self._is_live and not self._is_pending else len(current)
        segments = [Segment(current[:cut], style), Segment(current[cut:], self._styles[1])]
        segments = [segment for segment in segments if segment.text]
        if self._is_live and cell_len(current) < width:
            segments.append(Segment(CARET, self._styles[3]))
        return Strip(segments).adjust_cell_length(width, style)


def _is_plain(text: str) -> bool:
    """Whether it is shown character by character, as it came."""
    return text.isascii() and clean(text) == text


def _title(view: RequestView) -> str:
    held = " held" if view.reason in COMPLETE else ""
    name = f"{view.id} {view.label}" if view.label and view.label not in view.id else view.id
    return f"{clean(name)}{held}"


def _last_title(view: RequestView) -> str:
    """How the request left its slot."""
    if view.reason is None:
        return f"{clean(view.id)} evicted"
    is_done = view.reason in COMPLETE
    return f"{clean(view.id)} {'done' if is_done else view.reason.value}"


def _subtitle(view: RequestView, is_pending: bool) -> str:
    if view.num_output_tokens == 0 and view.reason is None:
        return f"prompt {view.num_computed}/{view.num_prompt_tokens}"
    count = f"{view.num_output_tokens}/{view.max_tokens}"
    return f"{count} not delivered" if is_pending else count


def _class(view: RequestView, is_mine: bool) -> str:
    if is_mine:
        return "-mine"
    return "-held" if view.reason is not None else "-live"
