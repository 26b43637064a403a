"""The single lines of the live screen: story, legend, and what all of them have in common."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from engine.settings import BatcherName, Delivery, EngineSettings
from tuiapp.view.phases import ASCII_GLYPHS, GLYPHS, WORDS
from tuiapp.view.story import Story
from tuiapp.widgets.picked import Picked


class Line(Static):
    """One line that repaints only when it changed."""

    DEFAULT_CSS = """
    Line { height: 1; width: 1fr; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self._said: Content | None = None

    def say(self, content: Content) -> None:
        """Show this."""
        if self._said is None or not content.is_same(self._said):
            self._said = content
            self.update(content, layout=False)


class StoryLine(Line):
    """One sentence on what can be seen; a click opens the request that it is about."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._about: str | None = None

    def show(self, story: Story, *, has_hint: bool) -> None:
        """Draw a frame; the hint only where the keys it names do something."""
        self._about = story.about
        hint = story.hint if has_hint else ""
        self.say(Content.assemble(("▸ ", "$accent"), (story.point, "bold"), story.rest, hint))

    def on_click(self) -> None:
        if self._about is not None:
            self.post_message(Picked(self._about))


class Legend(Line):
    """Every phase with its glyph and its name."""

    def __init__(self, *, ascii_only: bool = False) -> None:
        super().__init__(id="legend")
        self._glyphs = ASCII_GLYPHS if ascii_only else GLYPHS

    def on_mount(self) -> None:
        parts: list[tuple[str, str]] = []
        for phase, word in WORDS.items():
            name = phase.value
            parts.append((self._glyphs[phase] * 2, f"$phase-{name}-ink on $phase-{name}"))
            parts.append((f" {word}  ", "$muted"))
        self.say(Content.assemble(*parts))


def describe(settings: EngineSettings) -> str:
    """The batcher and the settings that shape what is seen, in a few words."""
    if settings.batcher is BatcherName.STATIC:
        text = f"static · batch {settings.max_batch_size}"
    elif settings.batcher is BatcherName.DYNAMIC:
        text = f"dynamic · batch {settings.max_batch_size} or {settings.max_queue_delay_ms:g} ms"
    elif settings.enable_chunked_prefill:
        limit = settings.long_prefill_token_threshold or settings.max_num_batched_tokens
        text = f"continuous · chunked prefill {min(limit, settings.max_num_batched_tokens)}"
    else:
        text = "continuous · whole prompts"
    usual = EngineSettings(batcher=settings.batcher).delivery
    if settings.delivery is not usual:
        streams = settings.delivery is Delivery.STREAM
        text += " · streams" if streams else " · answers at the end"
    return text
