"""Lives of all requests of a run, folded in one reading of its log."""

from __future__ import annotations

from engine.events import Arrived, Event, Step
from tuiapp.explain.fold import LifeFold
from tuiapp.explain.life import Life


def lives_of(events: list[Event], now: float) -> dict[str, Life]:
    """By request, at a moment after the last event."""
    folds: dict[str, LifeFold] = {}
    alive: dict[str, LifeFold] = {}
    for event in events:
        if isinstance(event, Arrived):
            folds[event.request.id] = alive[event.request.id] = LifeFold(event.request)
        elif isinstance(event, Step):
            _feed_pass(alive, event)
        elif fold := folds.get(getattr(event, "request_id", "")):
            fold.feed(event)
    return {name: fold.life(now) for name, fold in folds.items()}


def _feed_pass(alive: dict[str, LifeFold], step: Step) -> None:
    """Feed it to each, looking once who is in it; let go of those whose lives are over."""
    rows = {row.request_id: row for row in step.rows}
    moved = {change.request_id for change in step.blocks}
    moved |= {lost.request_id for lost in step.preempted}
    for name, fold in alive.items():
        fold.feed_pass(step, rows.get(name), is_moved=name in moved)
    for name in [name for name, fold in alive.items() if fold.is_over]:
        del alive[name]
