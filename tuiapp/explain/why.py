"""Why a waiting request was not admitted in the last pass, in the words of the scheduler's record.

A batcher looks at the head of the queue only, and stops there: so whoever stands behind the head
waits for the same reason.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.plan import Skip, SkipReason
from engine.settings import BatcherName
from tuiapp.snapshot import Snapshot
from tuiapp.tracked import RequestView

NAMES = {
    SkipReason.SLOTS: "no free slot",
    SkipReason.BUDGET: "token budget spent",
    SkipReason.BLOCKS: "too few KV blocks",
    SkipReason.POLICY: "the batch is closed",
    SkipReason.COMPANY: "waits for company",
}


@dataclass(frozen=True, slots=True)
class Wait:
    """A waiting request, and what stopped the head of the queue.

    Attributes:
        place: requests in front of it; 0 is the head.
        skip: None if no pass was planned since it came.
    """

    request_id: str
    place: int
    skip: Skip | None


def why_waiting(snapshot: Snapshot, request_id: str) -> Wait | None:
    """What keeps a request, or None if it does not stand near the front of the queue."""
    ids = [view.id for view in snapshot.waiting]
    if request_id not in ids:
        return None
    place = ids.index(request_id)
    skip = snapshot.skipped[0] if snapshot.skipped else None
    return Wait(request_id, place, skip if skip and skip.request_id in ids else None)


def explain_wait(wait: Wait, snapshot: Snapshot) -> str:
    """The rest of a sentence that says that it waits."""
    if wait.skip is None:
        return "no pass was planned since it came, the next one decides"
    reason = explain_skip(wait.skip, snapshot)
    if not wait.place:
        return reason
    ahead = f"{wait.place} {'is' if wait.place == 1 else 'are'} ahead of it"
    return f"{ahead}; for {wait.skip.request_id} {reason}"


def explain_skip(skip: Skip, snapshot: Snapshot) -> str:
    """What stopped the head of the queue, with the numbers that decided it."""
    match skip.reason:
        case SkipReason.SLOTS:
            return f"no slot is free ({_taken(snapshot)})"
        case SkipReason.BUDGET:
            budget = snapshot.settings.max_num_batched_tokens
            left = f"{skip.available} of the {budget} tokens of a pass were left"
            return f"{left}, and it has {skip.needed} to compute"
        case SkipReason.BLOCKS:
            total = snapshot.num_blocks
            return f"{skip.needed} KV blocks are needed, {skip.available} of {total} were free"
        case SkipReason.POLICY:
            return f"the batch takes nobody in until all of it is done ({_taken(snapshot)})"
        case SkipReason.COMPANY:
            return f"{skip.available} of {skip.needed} requests are here{_deadline(skip, snapshot)}"


def name_reason(skip: Skip) -> str:
    """The same in a few words."""
    if skip.reason is SkipReason.BLOCKS:
        return f"needs {skip.needed} blocks, {skip.available} free"
    return NAMES[skip.reason]


def _taken(snapshot: Snapshot) -> str:
    """Who holds the slots, and who decides how long."""
    held = [view for view in snapshot.slots if view]
    live = [view for view in held if view.reason is None]
    text = f"{len(held)} of {len(snapshot.slots)} are taken"
    if not live:
        return text
    if snapshot.settings.batcher is BatcherName.CONTINUOUS:
        return f"{text}; {_nearest_end(live)}"
    longest = max(live, key=_left)
    return f"{text}; {longest.id} has up to {_count(_left(longest), 'token')} to go"


def _nearest_end(live: list[RequestView]) -> str:
    nearest = min(live, key=_left)
    return f"{nearest.id} is nearest its end: {_count(_left(nearest), 'token')} at most"


def _left(view: RequestView) -> int:
    return view.max_tokens - view.num_output_tokens


def _deadline(skip: Skip, snapshot: Snapshot) -> str:
    if skip.until is None:
        return ", and a static batch starts when it is full"
    left = max(0.0, skip.until - snapshot.time) * 1000
    return f", and the batch starts when it is full, or in {left:.0f} ms at the latest"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
