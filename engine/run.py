"""Drive an engine through a workload, in the calling thread."""

from __future__ import annotations

from collections.abc import Callable

from engine.core import EngineCore
from engine.workload import Feed, Workload


def advance(core: EngineCore, feed: Feed | None) -> float | None:
    """Add what has arrived and run one step.

    At the end of the input nobody waits for company any more, since none can come.

    Returns:
        None if a forward pass ran; else the moment to wake at, infinity if nothing is to come.
    """
    if feed:
        for request in feed.take(core.clock.now()):
            core.add(request)
        if feed.next_arrival() is None:
            core.flush()
    plan = core.step()
    if plan.rows:
        return None
    arrival = feed.next_arrival() if feed else None
    return min((at for at in (arrival, plan.wake_at) if at is not None), default=float("inf"))


def run(core: EngineCore, workload: Workload, on_step: Callable[[], object] = lambda: None) -> None:
    """Feed a workload as it arrives and step until every request has finished.

    Args:
        on_step: called after every step, for progress bars and metrics.
    """
    feed = Feed(workload, began=core.clock.now())
    while feed.next_arrival() is not None or core.has_work:
        wake_at = advance(core, feed)
        on_step()
        if wake_at is not None and wake_at < float("inf"):
            core.clock.sleep(wake_at - core.clock.now())
    core.step()  # retires the last finished sequences
    on_step()
