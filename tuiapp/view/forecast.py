"""What a request will cost, before it is sent: chunks, passes, KV blocks, and whether it waits."""

from __future__ import annotations

from dataclasses import dataclass

from engine.settings import BatcherName, EngineSettings
from tuiapp.counting import counted, verb
from tuiapp.keys import Keys
from tuiapp.view.snapshot import Snapshot

REFUSED = "Will be refused"


@dataclass(frozen=True, slots=True)
class Forecast:
    """In words."""

    prompt_note: str
    output_note: str
    sentence: str
    is_refused: bool = False


def forecast(
    snapshot: Snapshot, keys: Keys, prompt_tokens: int, output_tokens: int, count: int
) -> Forecast:
    """What `count` like requests would meet in the engine of this moment.

    Args:
        keys: to name where one of them would change it.
    """
    settings, info = snapshot.settings, snapshot.info
    total = prompt_tokens + output_tokens
    longest = info.longest(settings) if info else total
    reserved = info.reserve_tokens(settings) if info else 0
    blocks = -(-max(total, reserved) // settings.block_size)
    free = snapshot.num_blocks - snapshot.meters.num_used_blocks
    if total > longest:
        sentence = f"{REFUSED}: {total} tokens exceed the context of {longest}."
    elif blocks > snapshot.num_blocks:
        sentence = (
            f"{REFUSED}: {counted(blocks, 'KV block')} each; the cache has {snapshot.num_blocks}."
        )
    elif 0 < settings.max_queue_size <= snapshot.meters.num_waiting:
        sentence = f"{REFUSED}: queue is full ({snapshot.meters.num_waiting} waiting)."
    else:
        need = blocks * count
        start = _start(snapshot, keys, count)
        room = f"{free} {verb(free, 'is', 'are')} free"
        sentence = f"Needs {counted(need, 'KV block')} in the end; {room}. {start}"
    note = _prompt_note(settings, prompt_tokens)
    is_refused = sentence.startswith(REFUSED)
    return Forecast(note, _passes(output_tokens), sentence, is_refused)


def _prompt_note(settings: EngineSettings, prompt_tokens: int) -> str:
    if settings.batcher is not BatcherName.CONTINUOUS or not settings.enable_chunked_prefill:
        return "in one pass"
    limit = settings.long_prefill_token_threshold or settings.max_num_batched_tokens
    chunk = min(limit, settings.max_num_batched_tokens)
    chunks = -(-prompt_tokens // chunk)
    return "in one pass" if chunks == 1 else f"{chunks} chunks of at most {chunk}"


def _passes(output_tokens: int) -> str:
    return counted(output_tokens, "pass")


def _start(snapshot: Snapshot, keys: Keys, count: int) -> str:
    """When they begin, by the batcher's rules."""
    settings = snapshot.settings
    if settings.batcher is BatcherName.CONTINUOUS:
        return _start_continuous(snapshot, count)
    if any(snapshot.slots):
        return "A batch runs: they wait until all of it is done."
    missing = settings.max_batch_size - snapshot.meters.num_waiting - count
    if missing <= 0:
        return "They fill a batch, which starts on the next pass."
    if settings.batcher is BatcherName.DYNAMIC:
        return f"They wait {settings.max_queue_delay_ms:g} ms for company at most."
    short = f"{missing} short of a batch of {settings.max_batch_size}"
    return f"{short}: they wait, or {keys['flush']} starts it."


def _start_continuous(snapshot: Snapshot, count: int) -> str:
    ahead = snapshot.meters.num_waiting
    free = sum(view is None for view in snapshot.slots)
    now = max(0, min(count, free - ahead))
    if now == count:
        return "All start on the next pass." if count > 1 else "It starts on the next pass."
    behind = f" behind {counted(ahead, 'other')}" if ahead else ""
    if not now:
        return f"{'They wait' if count > 1 else 'It waits'} for a slot{behind}."
    return f"{now} of {count} start on the next pass; the others wait for a slot{behind}."
