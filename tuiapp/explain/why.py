"""Why a waiting request was not admitted in the last pass, in the words of the scheduler's record.

A batcher looks at the head of the queue, and mostly stops there: so whoever stands behind the head
waits for the same reason. Only a long prompt lets shorter ones pass it.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.plan import Skip, SkipReason
from engine.settings import BatcherName, OnFull
from tuiapp.counting import counted, verb
from tuiapp.view.snapshot import Snapshot
from tuiapp.view.tracked import RequestView

NAMES = {
    SkipReason.SLOTS: "no free slot",
    SkipReason.BUDGET: "token budget spent",
    SkipReason.BLOCKS: "too few KV blocks",
    SkipReason.POLICY: "the batch is closed",
    SkipReason.COMPANY: "waits for company",
    SkipReason.LONG_PROMPTS: "another long prompt runs",
    SkipReason.RATIO: "too few wait to interrupt",
}
FULL = "the batch is full and starts with the next pass"


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
    """What keeps a request, wherever in the queue it stands, or None if it does not wait."""
    if request_id not in snapshot.line:
        return None
    place = snapshot.line.index(request_id)
    known = [skip for skip in snapshot.skipped if skip.request_id in snapshot.line]
    own = (skip for skip in known if skip.request_id == request_id)
    return Wait(request_id, place, next(own, known[-1] if known else None))


def explain_wait(wait: Wait, snapshot: Snapshot) -> str:
    """The rest of a sentence that says that it waits."""
    if wait.skip is None:
        return "no pass was planned since it came, the next one decides"
    reason = explain_skip(wait.skip, snapshot)
    if not wait.place or wait.skip.request_id == wait.request_id:
        return reason
    ahead = f"{wait.place} {verb(wait.place, 'is', 'are')} ahead of it"
    return f"{ahead}; for {wait.skip.request_id} {reason}"


def explain_skip(skip: Skip, snapshot: Snapshot) -> str:
    """What stopped the head of the queue, with the numbers that decided it."""
    match skip.reason:
        case SkipReason.SLOTS:
            text = f"no slot is free ({_taken(snapshot)})"
        case SkipReason.BUDGET:
            budget = snapshot.settings.max_num_batched_tokens
            left = f"{skip.available} of the {counted(budget, 'token')} of a pass were left"
            text = f"{left}, and it has {skip.needed} to compute"
        case SkipReason.BLOCKS:
            num_free = skip.available
            were = verb(num_free, "was", "were")
            free = f"{num_free} of {snapshot.num_blocks} {were} free{_kept(snapshot)}"
            are = verb(skip.needed, "is", "are")
            text = f"{counted(skip.needed, 'KV block')} {are} needed, {free}"
        case SkipReason.POLICY:
            text = f"the batch takes nobody in until all of it is done ({_taken(snapshot)})"
        case SkipReason.COMPANY:
            is_full = len(snapshot.line) >= skip.needed
            text = f"{_company(skip)}{_deadline(skip, snapshot)}" if not is_full else FULL
        case SkipReason.LONG_PROMPTS:
            most = snapshot.settings.max_long_partial_prefills
            text = f"{counted(most, 'long prompt')} at most may be computed at once"
        case SkipReason.RATIO:
            text = (
                f"decodes are interrupted once {counted(skip.needed, 'request')} wait, of which "
                f"{skip.available} are here, or after {snapshot.settings.max_waiting_tokens} passes"
            )
    return text


def name_reason(skip: Skip) -> str:
    """The same in a few words."""
    if skip.reason is SkipReason.BLOCKS:
        return f"needs {counted(skip.needed, 'block')}, {skip.available} free"
    return NAMES[skip.reason]


def _kept(snapshot: Snapshot) -> str:
    """What else admission leaves free."""
    settings = snapshot.settings
    if settings.batcher is not BatcherName.CONTINUOUS:
        return ""
    promised = settings.on_full is OnFull.NO_EVICT
    kept = [
        *(["what those who run may still need"] if promised else []),
        *([f"the watermark of {settings.watermark:.0%}"] if settings.watermark else []),
    ]
    return f" beside {' and '.join(kept)}" if kept else ""


def _taken(snapshot: Snapshot) -> str:
    """Who holds the slots, and who decides how long."""
    held = [view for view in snapshot.slots if view]
    live = [view for view in held if view.reason is None]
    text = f"{len(held)} of {len(snapshot.slots)} are taken"
    if not live:
        return text
    if snapshot.settings.batcher is BatcherName.CONTINUOUS:
        return f"{text}; {_nearest_end(live)}"
    longest = max(live, key=lambda view: view.num_left)
    return f"{text}; {longest.id} has up to {counted(longest.num_left, 'token')} to go"


def _nearest_end(live: list[RequestView]) -> str:
    nearest = min(live, key=lambda view: view.num_left)
    return f"{nearest.id} is nearest its end: {counted(nearest.num_left, 'token')} at most"


def _company(skip: Skip) -> str:
    return f"{skip.available} of {skip.needed} requests {verb(skip.available, 'is', 'are')} here"


def _deadline(skip: Skip, snapshot: Snapshot) -> str:
    if skip.until is None:
        return ", and a static batch starts when it is full"
    left = max(0.0, skip.until - snapshot.time) * 1000
    return f", and the batch starts when it is full, or in {left:.0f} ms at the latest"
