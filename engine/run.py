"""Drive an engine through a workload, in the calling thread."""

from __future__ import annotations

from collections.abc import Callable

from engine.act import act
from engine.core import EngineCore
from engine.events import Played
from engine.workload import Feed, Workload


def advance(core: EngineCore, feed: Feed | None) -> float | None:
    """Do what the workload says, run one step, and tell the workload who was answered.

    Returns:
        None if a forward pass ran; else the moment to wake at, infinity if nothing is to come.
    """
    if feed:
        for item in feed.take(core.clock.now()):
            act(core, item)
        if feed.is_last_call(core.queues):
            core.flush()
    plan = core.step()
    answered = core.take_answered()
    if feed:
        feed.tell(answered, core.clock.now())
        if feed.take_end():
            core.log.append(Played(core.clock.now()))
    if plan.rows:
        return None
    moment = feed.next_time() if feed else None
    return min((at for at in (moment, plan.wake_at) if at is not None), default=float("inf"))


def run(core: EngineCore, workload: Workload, on_step: Callable[[], object] = lambda: None) -> None:
    """Feed a workload as it arrives and step until every request has finished.

    Args:
        on_step: called after every step, for progress bars and metrics.
    """
    feed = Feed(workload, began=core.clock.now())
    while not feed.is_over or core.has_work:
        wake_at = advance(core, feed)
        on_step()
        if wake_at is not None and wake_at < float("inf"):
            core.clock.sleep(wake_at - core.clock.now())
    core.step()  # retires the last finished sequences
    on_step()
