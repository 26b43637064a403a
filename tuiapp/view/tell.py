"""`tell`: one sentence on what can be seen: what is wasted and which key makes it vanish."""

from __future__ import annotations

from engine.events import Work
from engine.loading import LoadStep
from engine.plan import Skip, SkipReason
from engine.settings import BatcherName, Start
from tuiapp.counting import counted, verb
from tuiapp.explain import explain_wait, why_waiting
from tuiapp.keys import Keys
from tuiapp.view.lull import tell_batch, tell_idle
from tuiapp.view.phases import Phase
from tuiapp.view.snapshot import Snapshot
from tuiapp.view.story import Story
from tuiapp.view.tracked import RequestView

BAR_WIDTH = 20  # cells, of a bar that fills while a model loads
STALL_FACTOR = 4  # a pass that long beside the typical one is worth a word


def tell(
    snapshot: Snapshot,
    keys: Keys,
    *,
    is_paused: bool = False,
    selected: str | None = None,
    is_replay: bool = False,
) -> Story:
    """The story of a snapshot of an engine that is loaded; the first that applies is told.

    Args:
        keys: to name in hints.
        selected: a request; if it waits, its story is told.
        is_replay: what is shown was recorded, and no key can bring it work.
    """
    told = (
        _chosen(snapshot, selected)
        or _held(snapshot, keys)
        or _evicted(snapshot)
        or _prefilling(snapshot)
        or tell_batch(snapshot, keys)
        or _working(snapshot, keys)
    )
    if told:
        return told
    if is_paused:
        return Story("Paused", f": {keys['step']} runs one pass, {keys['pause']} goes on.")
    return tell_idle(snapshot, keys, is_replay=is_replay)


def tell_loading(step: LoadStep, seconds: float, model: str = "") -> Story:
    """How far the loading of a model is, for how long already."""
    bar = ""
    if step.share is not None:
        full = round(step.share * BAR_WIDTH)
        bar = f" {'█' * full}{'░' * (BAR_WIDTH - full)}"
    return Story(f"Loading {model or 'the model'}", f":{bar} {step} · {seconds:.0f} s")


def _chosen(snapshot: Snapshot, selected: str | None) -> Story | None:
    wait = why_waiting(snapshot, selected) if selected else None
    if wait is None:
        return None
    return Story(f"{selected} waits", f": {explain_wait(wait, snapshot)}.", about=selected)


def _held(snapshot: Snapshot, keys: Keys) -> Story | None:
    held = [view for view in snapshot.slots if view and _is_held(view)]
    live = [view for view in snapshot.slots if view and view.work and not _is_held(view)]
    if not held or not live:
        return None
    longest = max(live, key=lambda view: view.num_left)
    wait = _waiting(snapshot)
    return Story(
        f"{len(held)} of {len(snapshot.slots)} slots {verb(len(held), 'is', 'are')} held but idle",
        f" until {longest.id} has made up to {counted(longest.num_left, 'more token')}{wait}.",
        f" Press {keys['continuous']} to refill them.",
        about=longest.id,
    )


def _is_held(view: RequestView) -> bool:
    return view.reason is not None


def _waiting(snapshot: Snapshot) -> str:
    count = snapshot.meters.num_waiting
    return f"; {counted(count, 'request')} {verb(count, 'waits', 'wait')}" if count else ""


def _evicted(snapshot: Snapshot) -> Story | None:
    recent = snapshot.columns[-20:]
    lost = [c.request_id for col in recent for c in col.cells if c and c.phase is Phase.EVICTED]
    if not lost or not snapshot.skipped or snapshot.skipped[0].reason is not SkipReason.BLOCKS:
        return None
    return Story(
        f"{lost[-1]} was evicted",
        f": the KV cache is full; its tokens will be computed again "
        f"({counted(snapshot.meters.num_preemptions, 'preemption')} so far).",
        about=lost[-1],
    )


def _prefilling(snapshot: Snapshot) -> Story | None:
    prefills = [v for v in snapshot.slots if v and v.work is Work.PREFILL and v.reason is None]
    decodes = [v for v in snapshot.slots if v and v.work is Work.DECODE]
    if not prefills or not snapshot.columns:
        return None
    longest = max(prefills, key=lambda view: view.num_prompt_tokens)
    column = snapshot.columns[-1]
    prompt = f"{longest.id}'s prompt of {counted(longest.num_prompt_tokens, 'token')}"
    if snapshot.settings.batcher is not BatcherName.CONTINUOUS:
        share = column.num_padding / max(1, column.num_padding + column.num_prefill)
        padding = f"; {share:.0%} of this pass is padding" if column.num_padding else ""
        return Story("A new batch", f": every prompt is padded to {prompt}{padding}.")
    if longest.num_computed < longest.num_prompt_tokens:
        beside = f" beside {counted(len(decodes), 'decoding request')}" if decodes else ""
        return Story(
            f"{prompt} comes in chunks",
            f": {longest.num_computed} are in{beside}, so nobody's stream stops for it.",
            about=longest.id,
        )
    if longest.num_computed > longest.num_in_pass + longest.num_cached:
        return None  # the last of several chunks, with which its first token came
    typical = sorted(c.seconds for c in snapshot.columns[-50:])[len(snapshot.columns[-50:]) // 2]
    if decodes and column.seconds > STALL_FACTOR * typical:
        return Story(
            f"{prompt} ran whole",
            f": {counted(len(decodes), 'stream')} stood still for {column.seconds * 1000:.0f} ms.",
            about=longest.id,
        )
    return None


def _working(snapshot: Snapshot, keys: Keys) -> Story | None:
    live = [v for v in snapshot.slots if v and v.work and v.reason is None]
    if not live:
        return None
    count = snapshot.meters.num_waiting
    if count and snapshot.skipped:
        waits = f"{counted(count, 'request')} {verb(count, 'waits', 'wait')}"
        return Story(
            f"{counted(len(live), 'request')} {verb(len(live), 'decodes', 'decode')} together",
            f"; {waits} {_reason(snapshot.skipped[0], snapshot)}.",
        )
    if len(live) == 1:
        return Story(
            "One request decodes alone",
            ": every pass reads all the weights for a single token.",
            f" {keys['burst']} sends company.",
        )
    return Story(
        f"{len(live)} requests decode together", ": one pass gives each of them one token."
    )


def _reason(skip: Skip, snapshot: Snapshot) -> str:
    """What the head of the queue waits for."""
    match skip.reason:
        case SkipReason.SLOTS:
            text = "for a slot"
        case SkipReason.BLOCKS:
            text = f"for KV blocks ({skip.needed} needed, {skip.available} free)"
        case SkipReason.BUDGET:
            text = "for room in the token budget of a pass"
        case SkipReason.COMPANY:
            text = "for company"
        case SkipReason.POLICY:
            is_idle = snapshot.settings.start is Start.IDLE
            text = "until the whole batch is done" if not is_idle else "until the batch is done"
        case SkipReason.LONG_PROMPTS:
            text = "for another long prompt to be computed"
        case SkipReason.RATIO:
            text = f"until {skip.needed} of them make it worth to interrupt the decodes"
    return text
