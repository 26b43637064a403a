"""`TooSmall`: one line in place of a screen that the terminal has no room for."""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Size
from textual.widgets import Static

MIN_WIDTH, MIN_HEIGHT = 80, 24


class TooSmall(Static):
    """Hidden while there is room enough."""

    DEFAULT_CSS = """
    TooSmall { display: none; content-align: center middle; height: 1fr; color: $muted; }
    """

    def __init__(self) -> None:
        super().__init__(markup=False)

    def tell(self, size: Size) -> bool:
        """Say how large a terminal is needed; return whether this one is."""
        is_large = size.width >= MIN_WIDTH and size.height >= MIN_HEIGHT
        self.display = not is_large
        if not is_large:
            needed = f"batchscope needs {MIN_WIDTH}×{MIN_HEIGHT}, now {size.width}×{size.height}"
            self.update(Content(needed))
        return is_large
