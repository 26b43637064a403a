"""`Picked`: a request was pointed at, wherever it is drawn."""

from __future__ import annotations

from textual.message import Message


class Picked(Message):
    """Somebody wants to see this request's life."""

    def __init__(self, request_id: str) -> None:
        self.request_id = request_id
        super().__init__()
