"""Lives of all requests of a run, folded in one reading of its log."""

from __future__ import annotations

from engine.events import Arrived, Event, Step
from tuiapp.explain.fold import LifeFold
from tuiapp.explain.life import Life


def lives_of(events: list[Event], now: float) -> dict[str, Life]:
    """By request, at a moment after the last event."""
    folds: dict[str, LifeFold] = {}
    for event in events:
        if isinstance(event, Arrived):
            folds[event.request.id] = LifeFold(event.request)
        elif isinstance(event, Step):
            for fold in folds.values():
                if not fold.is_over:
                    fold.feed(event)
        elif fold := folds.get(getattr(event, "request_id", "")):
            fold.feed(event)
    return {name: fold.life(now) for name, fold in folds.items()}
