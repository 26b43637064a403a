"""`stand_in_line`: the waiting queue in its order, as the engine's own `Order` has it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from engine.order import Order, Rank, make_order
from engine.settings import EngineSettings, SchedulingPolicy
from engine.timeouts import deadline
from tuiapp.view.tracked import Tracked


def stand_in_line(
    waiting: Iterable[str], requests: Mapping[str, Tracked], settings: EngineSettings, now: float
) -> list[str]:
    """The ids of those who wait, who comes first first.

    Args:
        waiting: first come first served, with the preempted in front.
        now: seconds on the clock; who waited too long by then lets others pass.
    """
    if settings.scheduling_policy is SchedulingPolicy.FCFS and not settings.delays:
        return list(waiting)
    order = make_order(settings)
    return sorted(waiting, key=lambda key: _rank(order, requests[key], settings, now))


def _rank(order: Order, tracked: Tracked, settings: EngineSettings, now: float) -> Rank:
    """The rank that the engine gives a request; whom it delayed the log does not say."""
    moment = deadline(tracked.request, settings)
    is_delayed = settings.delays and tracked.admitted_at is None and now >= moment
    tracked.delayed_at = moment if is_delayed else None
    return order.rank(tracked)
