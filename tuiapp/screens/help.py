"""Every key, and what the pictures mean."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tuiapp.keys import show_key
from tuiapp.screens.dialog import Dialog
from tuiapp.screens.live_keys import closing
from tuiapp.view.phases import ASCII_GLYPHS, GLYPHS, Phase

MEANINGS = {
    Phase.PREFILL: "the prompt is read, whole or a chunk at a time",
    Phase.DECODE: "one pass, one new token",
    Phase.LAST: "the last token of an answer",
    Phase.STALLED: "alive, but this pass had no room for it",
    Phase.HELD: "done, yet its slot and memory wait for the batch: waste",
    Phase.EVICTED: "the KV cache was full; its tokens are computed again later",
}
NOTES = (
    "A column is one forward pass of the model. pre and dec below it are the",
    "prompt tokens and the output tokens of that pass. TTFT is the time to an",
    "answer's first token, ITL the gap between two tokens, as the client has them.",
)


class HelpScreen(Dialog[None]):
    """Made from the bindings themselves, so that it cannot go stale.

    Args:
        bindings: of the screen that it explains.
        notes: lines on what can be seen there.
        about: what the focused panel says of itself; it comes first.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        closing("help"),
        Binding("q,enter", "close", "Close"),
    ]
    DEFAULT_CSS = """
    HelpScreen #keys { height: auto; max-height: 1fr; margin-top: 1; scrollbar-size-vertical: 1; }
    """

    def __init__(
        self, bindings: Iterable[BindingType], notes: Iterable[str] = NOTES, about: str = ""
    ) -> None:
        super().__init__("keys and pictures", "esc close")
        self._explained = [binding for binding in bindings if isinstance(binding, Binding)]
        self._notes = tuple(notes)
        self._about = about

    def compose_body(self) -> ComposeResult:
        with VerticalScroll(id="keys"):
            yield Static(self._text())

    def _text(self) -> Content:
        is_ascii = bool(getattr(self.app, "ascii_only", False))
        glyphs = ASCII_GLYPHS if is_ascii else GLYPHS
        lines = [Content.styled(self._about, "$accent"), Content("")] if self._about else []
        lines += self._key_lines(is_ascii=is_ascii)
        lines += [Content(""), *(_phase_line(phase, glyphs[phase]) for phase in MEANINGS)]
        lines += [Content(""), *(Content(note) for note in self._notes)]
        return Content("\n").join(lines)

    def _key_lines(self, *, is_ascii: bool) -> list[Content]:
        keys = [
            " ".join(show_key(key, is_ascii=is_ascii) for key in binding.key.split(","))
            for binding in self._explained
        ]
        widest = max(map(len, keys), default=0)
        return [
            Content.assemble(
                (f"{each:>{widest}}  ", "bold $primary"),
                f"{binding.description:<12}",
                (binding.tooltip, "$muted"),
            )
            for each, binding in zip(keys, self._explained, strict=True)
        ]


def _phase_line(phase: Phase, glyph: str) -> Content:
    name = phase.value
    return Content.assemble(
        "      ",
        (glyph * 2, f"$phase-{name}-ink on $phase-{name}"),
        f"  {name:<12}",
        (MEANINGS[phase], "$muted"),
    )
