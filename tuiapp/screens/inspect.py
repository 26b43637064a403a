"""One request's life: where its time went, what held it up, what it asked and what it got."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tuiapp.counting import counted
from tuiapp.explain import Life, LifeReader, explain_wait, why_waiting
from tuiapp.explain.export import to_json
from tuiapp.screens.dialog import Dialog
from tuiapp.screens.live_keys import closing
from tuiapp.session import Session
from tuiapp.text import clean, one_line
from tuiapp.view.filtering import Filter
from tuiapp.view.layout import TALL
from tuiapp.view.rewind import Rewind, tell_pass
from tuiapp.view.tracked import RequestView
from tuiapp.widgets.life_bar import draw_life
from tuiapp.widgets.life_facts import (
    draw_blocks,
    draw_company,
    draw_facts,
    draw_gaps,
    draw_sentence,
)
from tuiapp.widgets.waterfall import draw_waterfall

REFRESH_SECONDS = 0.25
NO_FILTER = Filter()
SCROLLBAR = BORDER = 1  # cells
LEAST_TEXT = 3  # lines
LONGEST_PROMPT = 4000  # characters of a prompt that are shown
HINT = "← → others   [ ] gaps   g go to it   c copy   e export   x abort   esc close"


class InspectScreen(Dialog[int | None]):
    """Follows the request while it lives, or shows it at the pass that was gone back to.

    Args:
        wanted: which other requests can be gone on to.

    It is dismissed with the pass to go to, if the gap that is explained is to be seen.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        closing("inspect"),
        Binding("q", "close", "Close"),
        Binding("left", "neighbour(-1)", "The request before"),
        Binding("right", "neighbour(1)", "The next request"),
        Binding("c", "copy", "Copy the answer"),
        Binding("e", "export", "Export as JSON"),
        Binding("left_square_bracket", "gap(-1)", "A longer gap"),
        Binding("right_square_bracket", "gap(1)", "The next of the longest gaps"),
        Binding("g", "go_to_gap", "Go to the gap that is explained"),
        Binding("x", "abort", "Abort"),
    ]
    DEFAULT_CSS = """
    InspectScreen > #dialog { width: 108; }
    InspectScreen .part { height: auto; }
    InspectScreen.-tall .part { margin-top: 1; }
    InspectScreen #texts { height: auto; min-height: 3; }
    InspectScreen #texts { border-top: solid $border-blurred; scrollbar-size-vertical: 1; }
    """

    def __init__(
        self, rewind: Rewind, session: Session, request_id: str, wanted: Filter = NO_FILTER
    ) -> None:
        self._is_live = rewind.log is session.backend.log
        super().__init__("", HINT if self._is_live else HINT.replace("x abort   ", ""))
        self._rewind = rewind
        self._session = session
        self._wanted = wanted
        self._life: Life | None = None
        self._look_at(request_id)

    def compose_body(self) -> ComposeResult:
        for name in ("life", "waterfall", "facts", "tracks"):
            yield Static(id=name, classes="part", markup=False)
        with VerticalScroll(id="texts"):
            yield Static(id="company", markup=False)
            yield Static(id="text", markup=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What ran in a comparison is over and cannot be aborted."""
        return self._is_live or action != "abort"

    def on_mount(self) -> None:
        self.set_interval(REFRESH_SECONDS, self.draw)
        self.call_after_refresh(self.draw)

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.height >= TALL, "-tall")
        self.call_after_refresh(self.draw)

    def draw(self) -> None:
        """Show the request as it stands, for as long as it is remembered."""
        view = self._rewind.request(self._request_id)
        life = self._life = self._reader.read(self._rewind.snapshot.time)
        self.query_one("#dialog").border_title = Content(self._title_now())
        if life:
            self._draw_life(life)
        elif view:
            self._draw_rest(view)
        self.call_after_refresh(self._fit_texts)

    def _fit_texts(self) -> None:
        """Let the texts scroll in what the other parts leave of the terminal."""
        texts, frame = self.query_one("#texts"), self.query_one("#dialog")
        above = texts.region.y - frame.region.y
        texts.styles.max_height = max(LEAST_TEXT, self.size.height - above - BORDER)

    def _look_at(self, request_id: str) -> None:
        """Change over to a request."""
        log, until = self._rewind.log, self._rewind.position
        self._request_id = request_id
        self._reader = LifeReader(log, request_id, until)
        self._prompt: str | None = None
        self._gap = 0  # which of its longest gaps is explained

    def _title_now(self) -> str:
        ids = self._ids()
        label = f" {self._life.request.label}" if self._life and self._life.request.label else ""
        place = ""
        if self._request_id in ids:
            place = f"  ({ids.index(self._request_id) + 1} of {len(ids)})"
        return f"{one_line(self._request_id + label)}{place}{tell_pass(self._rewind)}"

    def _ids(self) -> tuple[str, ...]:
        """Of the requests that can be gone through."""
        ids = self._rewind.request_ids
        if not self._wanted.text:
            return ids
        views = self._wanted.among(self._rewind.request(request_id) for request_id in ids)
        return tuple(view.id for view in views)

    def _draw_life(self, life: Life) -> None:
        width = max(1, self.query_one("#life").size.width)  # 0 in a terminal of a few cells
        ascii_only = bool(getattr(self.app, "ascii_only", False))
        self._say("#life", draw_life(life, width, ascii_only=ascii_only))
        self._say("#waterfall", draw_waterfall(life, width, ascii_only=ascii_only))
        self._say("#facts", draw_facts(life))
        gaps = draw_gaps(life, width, self._gap)
        tracks = [draw_blocks(life, width), gaps, *self._why(width)]
        self._say("#tracks", Content("\n").join(tracks))
        self._say_company(draw_company(life, width - SCROLLBAR, self._gap))
        prompt = Content.styled(self._prompt_of(life), "$muted")
        answer = Content(clean(life.text).lstrip() or "no text yet")
        self._say("#text", Content("\n").join([prompt, answer]))

    def _draw_rest(self, view: RequestView) -> None:
        """What is remembered of a request whose beginning the log has forgotten."""
        self._say("#life", Content.styled("its beginning is no longer in memory", "$warning"))
        for part in ("#waterfall", "#facts"):
            self._say(part, Content(""))
        self._say("#tracks", Content("\n").join(self._why(self.query_one("#life").size.width)))
        self._say_company(None)
        self._say("#text", Content(clean(view.text) or "no text yet"))

    def _say_company(self, company: Content | None) -> None:
        """Name everybody who was served in a gap; it can be many, so they scroll with the text."""
        self.query_one("#company").display = company is not None
        self._say("#company", company or Content(""))

    def _why(self, width: int) -> list[Content]:
        """What the request waits for, if it does."""
        snapshot = self._rewind.snapshot
        wait = why_waiting(snapshot, self._request_id)
        if wait is None:
            return []
        return [draw_sentence("waits", f"{explain_wait(wait, snapshot)}.", width)]

    def _prompt_of(self, life: Life) -> str:
        """The text of the prompt, decoded once."""
        if self._prompt is None:
            tokenizer = self._session.backend.tokenizer
            ids = life.request.prompt_token_ids
            text = tokenizer.decode(ids) if tokenizer else counted(len(ids), "token")
            self._prompt = clean(text).strip()
        if len(self._prompt) > LONGEST_PROMPT:
            return f"{self._prompt[:LONGEST_PROMPT]} …"
        return self._prompt

    def _say(self, selector: str, content: Content) -> None:
        """Repaint a part that changed."""
        part = self.query_one(selector, Static)
        shown = part.content
        if not isinstance(shown, Content) or not content.is_same(shown):
            part.update(content)

    def action_neighbour(self, step: int) -> None:
        """Go on to the request that arrived before or after this one."""
        ids = self._ids()
        if self._request_id in ids:
            at = ids.index(self._request_id) + step
            self._look_at(ids[max(0, min(len(ids) - 1, at))])
            self.draw()

    def action_copy(self) -> None:
        if self._life and self._life.text:
            self.app.copy_to_clipboard(self._life.text)
            self.notify(f"{counted(self._life.num_output_tokens, 'token')} copied", timeout=2)

    def action_export(self) -> None:
        """Save all of it where the command was started."""
        if self._life is None:
            return
        path = Path(f"batchscope-{re.sub(r'[^A-Za-z0-9._-]', '_', self._request_id)}.json")
        values = to_json(self._life, self._prompt or "")
        try:
            path.write_text(json.dumps(values, indent=1, ensure_ascii=False) + "\n", "utf-8")
        except OSError as error:
            self.notify(f"No export: {error}", severity="error", markup=False)
        else:
            self.notify(f"Saved {path}", markup=False)

    def action_gap(self, step: int) -> None:
        """Explain another one of the longest gaps; behind the last comes the longest again."""
        gaps = self._life.worst_gaps if self._life else ()
        if gaps:
            self._gap = (self._gap + step) % len(gaps)
            self.draw()
        else:
            self.notify("There is no gap between two tokens", timeout=2)

    def action_go_to_gap(self) -> None:
        """Show the pass that the gap which is explained came from."""
        gaps = self._life.worst_gaps if self._life else ()
        if gaps:
            self.dismiss(gaps[self._gap].longest)
        else:
            self.notify("There is no gap between two tokens", timeout=2)

    def action_abort(self) -> None:
        self._session.backend.abort(self._request_id)
