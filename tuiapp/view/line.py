"""`stand_in_line`: the waiting queue in its order, as the engine's own `Order` has it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from engine.order import Order, Rank, make_order
from engine.settings import EngineSettings, SchedulingPolicy, TimeoutAction
from tuiapp.view.tracked import Tracked


def stand_in_line(
    waiting: Iterable[str], requests: Mapping[str, Tracked], settings: EngineSettings, now: float
) -> list[str]:
    """The ids of those who wait, who comes first first.

    Args:
        waiting: first come first served, with the preempted in front.
        now: seconds on the clock; who waited too long by then lets others pass.
    """
    delays = settings.timeout_action is TimeoutAction.DELAY and settings.default_queue_timeout_ms
    if settings.scheduling_policy is SchedulingPolicy.FCFS and not delays:
        return list(waiting)
    order = make_order(settings)
    return sorted(waiting, key=lambda key: _rank(order, requests[key], settings, now))


def _rank(order: Order, tracked: Tracked, settings: EngineSettings, now: float) -> Rank:
    """The rank that the engine gives a request; whom it delayed the log does not say."""
    timeout = settings.default_queue_timeout_ms / 1000
    is_new = tracked.admitted_at is None and settings.timeout_action is TimeoutAction.DELAY
    tracked.is_delayed = bool(timeout) and is_new and now >= tracked.request.arrival + timeout
    return order.rank(tracked)
