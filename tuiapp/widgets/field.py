"""`Field`: a line to type into."""

from __future__ import annotations

from textual.widgets import Input


class Field(Input):
    """As `Input`, whose cursor blinks even where nothing is to move (TEXTUAL_ANIMATIONS=none).

    Its placeholder can be read; Textual's is too pale for that.
    """

    DEFAULT_CSS = "Field > .input--placeholder { color: $muted; }"

    def on_mount(self) -> None:
        self.set_reactive(Input.cursor_blink, self.app.animation_level != "none")
