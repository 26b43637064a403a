"""One request's life: where its time went, what it asked and what it got."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tuiapp.screens.dialog import Dialog
from tuiapp.session import Session
from tuiapp.text import clean, one_line
from tuiapp.tracked import RequestView
from tuiapp.viewmodel import ViewModel

REFRESH_SECONDS = 0.25
LIFE_WIDTH = 60


class InspectScreen(Dialog[None]):
    """Follows the request while it lives."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,q", "close", "Close"),
        Binding("x", "abort", "Abort"),
    ]
    DEFAULT_CSS = """
    InspectScreen #facts { height: auto; margin: 1 0; }
    InspectScreen #answer { height: auto; max-height: 12; border-top: solid $border-blurred; }
    """

    def __init__(self, viewmodel: ViewModel, session: Session, request_id: str) -> None:
        super().__init__(one_line(request_id), "esc close   x abort")
        self._viewmodel = viewmodel
        self._session = session
        self._request_id = request_id

    def compose_body(self) -> ComposeResult:
        yield Static(id="facts")
        with VerticalScroll(id="answer"):
            yield Static(id="text")

    def on_mount(self) -> None:
        self.set_interval(REFRESH_SECONDS, self.draw)
        self.draw()

    def draw(self) -> None:
        """Show the request as it stands, for as long as it is remembered."""
        view = self._viewmodel.request(self._request_id)
        if view:
            self.query_one("#facts", Static).update(_facts(view, self._session.backend.now()))
            self.query_one("#text", Static).update(Content(clean(view.text) or "no text yet"))

    def action_abort(self) -> None:
        self._session.backend.abort(self._request_id)


def _facts(view: RequestView, now: float) -> Content:
    rows = [
        ("workload", one_line(view.label) or "injected"),
        ("state", _state(view)),
        ("prompt", f"{view.num_prompt_tokens} tokens, {view.num_computed} tokens in the cache"),
        (
            "output",
            f"{view.num_output_tokens} of at most {view.max_tokens} tokens generated, "
            f"{view.num_delivered} delivered",
        ),
        ("waited", _milliseconds((view.admitted_at or now) - view.arrival) + " for a slot"),
        ("TTFT", _milliseconds(view.ttft)),
        ("worst gap", _milliseconds(view.worst_gap or None) + " between two deliveries"),
        ("E2EL", _milliseconds(view.e2e)),
        ("preempted", f"{view.num_preemptions} times"),
    ]
    return Content("\n").join(
        Content.assemble((f"{name:>10}  ", "$muted"), value) for name, value in rows
    )


def _state(view: RequestView) -> str:
    if view.reason is not None:
        message = f": {one_line(view.message)}" if view.message else ""
        delivered = "" if view.is_delivered else ", not delivered yet"
        return f"ended ({view.reason.value}{message}){delivered}"
    return view.work.value if view.work else "waiting"


def _milliseconds(seconds: float | None) -> str:
    return "—" if seconds is None else f"{seconds * 1000:.0f} ms"
