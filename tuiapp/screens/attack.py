"""A small menu of things that hurt."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tuiapp.attacks import Attacks, burst_size
from tuiapp.counting import counted, verb
from tuiapp.screens.dialog import Dialog
from tuiapp.screens.live_keys import closing
from tuiapp.view.snapshot import Snapshot

WATCH = {
    "bomb": "Watch the streams beside it, with chunks and without.",
    "burst": "Watch the queue, and who waits for what.",
    "cancel": "Watch slots and blocks come free, or stay held under static.",
    "squeeze": "Watch who is evicted, and what is computed again.",
}


class AttackScreen(Dialog[None]):
    """Strikes at once and closes.

    Args:
        snapshot: the state of the engine at this moment.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        closing("attack"),
        Binding("q", "close", "Close"),
        Binding("1", "strike('bomb')", "Long-prompt bomb"),
        Binding("2", "strike('burst')", "Burst"),
        Binding("3", "strike('cancel')", "Cancel storm"),
        Binding("4", "strike('squeeze')", "KV squeeze"),
    ]
    DEFAULT_CSS = """
    AttackScreen > #dialog { width: 78; }
    AttackScreen OptionList {
        height: auto; border: none; background: $surface; margin: 1 0; scrollbar-size-vertical: 0;
    }
    """

    def __init__(self, attacks: Attacks, snapshot: Callable[[], Snapshot]) -> None:
        super().__init__("attack", "1-4 or ⏎ strike   esc close")
        self._attacks = attacks
        self._snapshot = snapshot

    def compose_body(self) -> ComposeResult:
        attacks, snapshot = self._attacks, self._snapshot()
        squeeze = f"{snapshot.num_blocks} → {attacks.squeezed_blocks(snapshot)} blocks"
        num_victims = len(attacks.victims(snapshot))
        hang_up = f"{counted(num_victims, 'client')} {verb(num_victims, 'hangs', 'hang')} up"
        bomb = f"one prompt of {counted(attacks.bomb_tokens(snapshot), 'token')}"
        rows = {
            "bomb": ("long-prompt bomb", bomb),
            "burst": ("burst", f"{burst_size()} requests at the same moment"),
            "cancel": ("cancel storm", hang_up),
            "squeeze": ("KV squeeze", "undo it" if attacks.is_squeezed() else squeeze),
        }
        options = [
            Option(_row(number, *row, WATCH[key]), id=key)
            for number, (key, row) in enumerate(rows.items(), start=1)
        ]
        yield OptionList(*options, markup=False, compact=True)

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()

    @on(OptionList.OptionSelected)
    def _choose(self, event: OptionList.OptionSelected) -> None:
        self.action_strike(event.option_id or "")

    def action_strike(self, key: str) -> None:
        snapshot = self._snapshot()
        match key:
            case "bomb":
                said = self._attacks.bomb(snapshot)
            case "burst":
                said = self._attacks.burst()
            case "cancel":
                said = self._attacks.cancel(snapshot)
            case _:
                said = self._attacks.squeeze(snapshot)
        self.notify(said, timeout=4, markup=False)
        self.dismiss()


def _row(number: int, name: str, what: str, watch: str) -> Content:
    return Content.assemble(
        (f" {number}  ", "bold"),
        (f"{name:<18}", "bold"),
        what,
        "\n    ",
        (watch, "italic"),
    )
