"""Choose a workload: its story, its lengths, its arrivals."""

from __future__ import annotations

from tuiapp.screens.dialog import Dialog
from tuiapp.session import Session


class PickerScreen(Dialog[None]):
    """Presets on the left, what the chosen one is like on the right."""

    def __init__(self, session: Session) -> None:
        super().__init__("workload", "enter run   esc cancel")
        self._session = session
