"""Requests that wait too long, as Triton's `default_queue_policy` times them out.

Who has been served before, and lost its place to a preemption, is not timed out any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from engine.plan import Plan
from engine.queues import Queues
from engine.request import Request, Sequence, Status
from engine.settings import EngineSettings


def deadline(request: Request, settings: EngineSettings) -> float:
    """When a request has waited as long as the settings allow, if they set such a limit."""
    return request.arrival + settings.default_queue_timeout_ms / 1000


def overdue(queues: Queues, settings: EngineSettings, now: float) -> list[Sequence]:
    """Who has waited as long as the settings allow, and was not dealt with yet."""
    if not settings.default_queue_timeout_ms:
        return []
    return [seq for seq in _new(queues) if now >= deadline(seq.request, settings)]


def wake_for_timeout(plan: Plan, queues: Queues, settings: EngineSettings) -> Plan:
    """An empty plan, with the moment when the next one who waits will have waited too long."""
    if not settings.default_queue_timeout_ms:
        return plan
    moments = [deadline(seq.request, settings) for seq in _new(queues)]
    if not moments:
        return plan
    if plan.wake_at is not None:
        moments.append(plan.wake_at)
    return replace(plan, wake_at=min(moments))


def timeout_message(seq: Sequence, now: float) -> str:
    """What the client of a request is told that was refused for it."""
    waited = (now - seq.request.arrival) * 1000
    return f"it waited {waited:.0f} ms in the queue, longer than default_queue_timeout_ms allows"


def _new(queues: Queues) -> Iterator[Sequence]:
    return (
        seq for seq in queues.waiting if seq.status is Status.WAITING and seq.delayed_at is None
    )
