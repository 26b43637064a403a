"""Send requests of one's own, with a word beforehand on what they will cost."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Button, Input, Label, Static

from engine.settings import SchedulingPolicy
from tuiapp.keys import Keys
from tuiapp.screens.dialog import Dialog
from tuiapp.session import Session
from tuiapp.view.forecast import Forecast, forecast
from tuiapp.view.snapshot import Snapshot
from tuiapp.widgets.field import Field
from tuiapp.widgets.prompt_input import PromptInput

PRIORITY = re.compile(r"-?[0-9]{1,6}", re.ASCII)
MOST_REQUESTS = 200
SHORT_TEXT = 500  # characters that are read again for every key
QUIET_SECONDS = 0.3  # longer than from one key to the next of who types


@dataclass(frozen=True, slots=True)
class Wish:
    """What the form asks for.

    Attributes:
        prompt_tokens: length of the prompt; that of the text where there is one.
    """

    text: str
    prompt_tokens: int
    output_tokens: int
    count: int
    priority: int = 0


class InjectScreen(Dialog[None]):
    """A form of five fields and one sentence.

    Args:
        keys: to name in what is foretold.
        snapshot: the state of the engine at this moment.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "send_and_stay", "Inject and stay"),
    ]
    DEFAULT_CSS = """
    InjectScreen .row { height: 1; }
    InjectScreen .row Label { width: 15; color: $muted; }
    InjectScreen .row Input { width: 1fr; }
    InjectScreen .row .short { width: 12; }
    InjectScreen .row .note { width: 1fr; color: $muted; margin-left: 2; }
    InjectScreen #first { margin-top: 1; }
    InjectScreen #forecast { margin: 1 0; height: auto; min-height: 2; }
    InjectScreen #buttons { height: 1; align-horizontal: right; margin-bottom: 1; }
    InjectScreen Button { margin-left: 2; }
    """

    def __init__(self, session: Session, keys: Keys, snapshot: Callable[[], Snapshot]) -> None:
        super().__init__("inject requests", "⏎ inject   ctrl+s inject and stay   esc cancel")
        self._session = session
        self._keys = keys
        self._snapshot = snapshot
        self._later: Timer | None = None

    def compose_body(self) -> ComposeResult:
        with Horizontal(classes="row", id="first"):
            yield Label("prompt")
            yield PromptInput(
                placeholder="text, or leave empty for filler", id="text", compact=True
            )
        for name, key, value in (
            ("prompt tokens", "prompt", "64"),
            ("output tokens", "output", "48"),
            ("how many", "count", "1"),
            ("priority", "priority", "0"),
        ):
            with Horizontal(classes="row"):
                yield Label(name)
                yield Field(
                    value, id=key, type="integer", max_length=7, classes="short", compact=True
                )
                yield Static(id=f"{key}-note", classes="note", markup=False)
        yield Static(id="forecast", markup=False)
        with Horizontal(id="buttons"):
            yield Button("Cancel", id="cancel", compact=True)
            yield Button("Inject", id="inject", variant="primary", compact=True)

    def on_mount(self) -> None:
        self.query_one("#text", Input).focus()
        self._explain()

    @on(Input.Changed)
    def _change(self, event: Input.Changed) -> None:
        """Explain at once; a long text only when the keys rest, for all of it has to be read."""
        if self._later:
            self._later.stop()
        if len(event.value) > SHORT_TEXT:
            self._later = self.set_timer(QUIET_SECONDS, self._explain)
        else:
            self._explain()

    def _explain(self) -> None:
        """Say what the wish will cost, or what is wrong with it."""
        wish = self._read()
        text = self.query_one("#forecast", Static)
        if isinstance(wish, str):
            text.update(Content.assemble(("▸ ", "$error"), (wish, "$error")))
            return
        told = self._forecast(wish)
        names = self._session.injector.next_ids(wish.count)
        shown = " ".join(names[:6]) + (" …" if len(names) > 6 else "")
        length = f"the text has {wish.prompt_tokens}; " if wish.text else ""
        if (num_lines := self.query_one(PromptInput).num_lines) > 1:
            length = f"the text has {wish.prompt_tokens} in {num_lines} lines; "
        self.query_one("#prompt-note", Static).update(Content(length + told.prompt_note))
        self.query_one("#output-note", Static).update(Content(told.output_note))
        self.query_one("#count-note", Static).update(Content(shown))
        self.query_one("#priority-note", Static).update(Content(self._say_priority()))
        text.update(Content.assemble(("▸ ", "$accent"), told.sentence))

    def _forecast(self, wish: Wish) -> Forecast:
        numbers = (wish.prompt_tokens, wish.output_tokens, wish.count)
        return forecast(self._snapshot(), self._keys, *numbers)

    def _read(self) -> Wish | str:
        """The wish, or what is wrong with the fields."""
        numbers = {}
        for key, name in (
            ("prompt", "prompt tokens"),
            ("output", "output tokens"),
            ("count", "how many"),
        ):
            value = self.query_one(f"#{key}", Input).value
            if not value.isdecimal() or not value.isascii() or int(value) < 1:
                return f"{name} must be a whole number of at least 1"
            numbers[key] = int(value)
        priority = self.query_one("#priority", Input).value
        if not PRIORITY.fullmatch(priority):
            return "priority must be a whole number; the lower comes first"
        if numbers["count"] > MOST_REQUESTS:
            return f"how many must be at most {MOST_REQUESTS}"
        text = self.query_one(PromptInput).text
        maker = self._session.prompts
        if text and maker:
            numbers["prompt"] = len(maker.chat(text))
        return Wish(text, numbers["prompt"], numbers["output"], numbers["count"], int(priority))

    def _say_priority(self) -> str:
        """Whether anything looks at it."""
        policy = self._snapshot().settings.scheduling_policy
        if policy is SchedulingPolicy.PRIORITY:
            return "the lower comes first"
        return f"no effect: scheduling_policy is {policy.value}"

    def _refusal(self, wish: Wish) -> str:
        """What the engine would say to it, where it could never serve it; else nothing."""
        told = self._forecast(wish)
        return told.sentence if told.is_refused else ""

    @on(Input.Submitted)
    @on(Button.Pressed, "#inject")
    def _send_and_close(self) -> None:
        if self._send():
            self.dismiss()

    def action_send_and_stay(self) -> None:
        if self._send():
            self.notify("Injected", timeout=1)
            self._explain()

    @on(Button.Pressed, "#cancel")
    def _cancel(self) -> None:
        self.dismiss()

    def _send(self) -> bool:
        wish = self._read()
        problem = wish if isinstance(wish, str) else self._refusal(wish)
        if isinstance(wish, str) or problem:
            self.notify(problem, severity="error", markup=False)
            return False
        self._session.injector.inject_wish(
            wish.text, wish.prompt_tokens, wish.output_tokens, wish.count, wish.priority
        )
        return True
