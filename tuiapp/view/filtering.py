"""`Filter`: which requests are meant by some words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engine.events import Work
from tuiapp.view.tracked import RequestView

STATES = {
    Work.PREFILL: "running prefill",
    Work.DECODE: "running decode",
    Work.HELD: "held",
    Work.STALLED: "running stalled",
}


@dataclass(frozen=True, slots=True)
class Filter:
    """A request matches if every word stands in its id, its label, its state or its output.

    Attributes:
        text: as it was typed; upper and lower case are alike. Empty, it lets everything through.
    """

    text: str = ""

    def matches(self, view: RequestView) -> bool:
        parts = (view.id, view.label, state_of(view), view.text)
        texts = [part.casefold() for part in parts]
        return all(any(word in text for text in texts) for word in self.text.casefold().split())

    def among(self, views: Iterable[RequestView | None]) -> tuple[RequestView, ...]:
        """Those that match."""
        return tuple(view for view in views if view and self.matches(view))


def state_of(view: RequestView) -> str:
    """What becomes of a request, in words that can be filtered by."""
    if view.reason is not None:
        return f"ended {view.reason.value}" + (" held" if view.work is Work.HELD else "")
    if view.work is not None:
        return STATES[view.work]
    return "waiting preempted" if view.num_preemptions else "waiting"
