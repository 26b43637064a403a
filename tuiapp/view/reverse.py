"""`Reverse`: how many passes to go back in a frame, so that time runs backwards at a speed."""

from __future__ import annotations

from collections.abc import Sequence

from tuiapp.view.columns import Column


class Reverse:
    """Off to begin with; what a frame leaves over of its time is kept for the next."""

    def __init__(self) -> None:
        self._shown: float | None = None  # when the last frame was, in seconds
        self._left = 0.0

    @property
    def is_on(self) -> bool:
        return self._shown is not None

    def start(self, now: float) -> None:
        """Let time run backwards from now on."""
        self._shown, self._left = now, 0.0

    def stop(self) -> None:
        self._shown = None

    def passes_due(self, columns: Sequence[Column], now: float, speed: float) -> int:
        """Passes that fit into the time since the last frame; none where it is off.

        Where nothing is known of the passes before, it is one a frame, until more is known.

        Args:
            columns: the passes before the moment that is shown, oldest first.
        """
        if self._shown is None:
            return 0
        self._left += (now - self._shown) * speed
        self._shown, count = now, 0
        for column in reversed(columns):
            if column.seconds > self._left:
                return count
            self._left -= column.seconds
            count += 1
        self._left = 0.0
        return max(1, count)
