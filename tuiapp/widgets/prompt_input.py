"""`PromptInput`: a line to type a prompt into, which takes pasted text of many lines whole."""

from __future__ import annotations

from textual import events

from tuiapp.widgets.field import Field

LINE_FEED = "⏎"  # how a line feed is shown in the one line


class PromptInput(Field):
    """As `Input`, which keeps the first pasted line only."""

    @property
    def text(self) -> str:
        """What was typed or pasted, line feeds included."""
        return self.value.strip().replace(LINE_FEED, "\n")

    @property
    def num_lines(self) -> int:
        return self.text.count("\n") + 1

    def on_paste(self, event: events.Paste) -> None:
        """Insert all of it where the cursor is."""
        event.prevent_default()
        event.stop()
        pasted = LINE_FEED.join(event.text.splitlines())
        if self.selection.is_empty:
            self.insert_text_at_cursor(pasted)
        else:
            self.replace(pasted, *self.selection)
