"""What a screen says while nothing runs: who is waited for, and what comes next."""

from __future__ import annotations

from engine.plan import SkipReason
from engine.settings import BatcherName
from tuiapp.counting import counted, verb
from tuiapp.keys import Keys
from tuiapp.view.snapshot import Snapshot
from tuiapp.view.story import Story


def tell_batch(snapshot: Snapshot, keys: Keys) -> Story | None:
    """How it goes on where whole batches are served, and none runs although requests wait."""
    count = snapshot.meters.num_waiting
    is_whole = snapshot.settings.batcher is not BatcherName.CONTINUOUS
    if not is_whole or not count or _num_running(snapshot):
        return None
    if any(snapshot.slots):
        return Story("The batch is done", f"; {_next(snapshot)}.")
    skip = snapshot.skipped[0] if snapshot.skipped else None
    if skip and skip.reason is SkipReason.COMPANY and count >= skip.needed:
        return Story("The batch is full", f"; {_next(snapshot)}.")
    return _company(snapshot, keys)


def tell_idle(snapshot: Snapshot, keys: Keys, *, is_replay: bool) -> Story:
    """Whom the next pass is to serve, or that there is nobody.

    Args:
        is_replay: what is shown was recorded, and no key can bring it work.
    """
    if num_running := _num_running(snapshot):
        runs = f"{counted(num_running, 'request')} {verb(num_running, 'runs', 'run')}"
        return Story(runs, ": the next pass shows what each of them does.")
    if count := snapshot.meters.num_waiting:
        waits = f"{counted(count, 'request')} {verb(count, 'waits', 'wait')}"
        return Story(waits, ": the next pass takes in as many as it can.")
    if is_replay:
        return _past(snapshot)
    hint = (
        f": {keys['burst']} sends a burst, {keys['inject']} one request, "
        f"{keys['workload']} plays a workload."
    )
    return Story("Nothing to do", hint=hint)


def _num_running(snapshot: Snapshot) -> int:
    return sum(view is not None and view.reason is None for view in snapshot.slots)


def _next(snapshot: Snapshot) -> str:
    """Who comes next; how many of them fit into the cache shows only then."""
    count, most = snapshot.meters.num_waiting, snapshot.settings.max_batch_size
    if count > most:
        return f"the next come, up to {most} of {count} waiting"
    return f"{counted(count, 'request')} {verb(count, 'waits', 'wait')} for the next"


def _company(snapshot: Snapshot, keys: Keys) -> Story | None:
    skip = snapshot.skipped[0] if snapshot.skipped else None
    if not skip or skip.reason is not SkipReason.COMPANY:
        return None
    here = snapshot.meters.num_waiting
    point = f"{here} of {skip.needed} requests {verb(here, 'is', 'are')} here"
    if skip.until is not None:
        left = max(0.0, skip.until - snapshot.time) * 1000
        rest = f": the batch starts when it is full, or in {left:.0f} ms at the latest."
        return Story(point, rest)
    return Story(
        point,
        ": a static batch waits until it is full.",
        f" {keys['flush']} starts it now; press {keys['continuous']} and nobody waits.",
    )


def _past(snapshot: Snapshot) -> Story:
    """Where a recording has nothing to show."""
    if snapshot.num_passes == 0:
        return Story("Nothing has arrived yet", ": the recording goes on to its first request.")
    ended = f": {counted(snapshot.meters.num_finished, 'request')} had ended by then."
    return Story("The engine was idle here", ended)
