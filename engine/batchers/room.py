"""What the KV cache has to have free for those who run, and before another one may begin."""

from __future__ import annotations

from math import ceil

from engine.queues import Queues
from engine.request import Sequence
from engine.settings import BatcherName, EngineSettings, OnFull


def room_wanted(seq: Sequence, num_tokens: int, on_full: OnFull) -> int:
    """Tokens that there must be room for: those of the first pass, or all that it may ever have."""
    return seq.request.max_num_tokens if on_full is OnFull.NO_EVICT else num_tokens


def blocks_kept(queues: Queues, on_full: OnFull, watermark: float) -> int:
    """Free blocks that nobody new may take, for the sake of those who run.

    Args:
        watermark: share of all blocks; an engine in which nobody runs keeps none of them, or a
            long prompt would wait for ever.
    """
    if not queues.running:
        return 0
    kept = ceil(watermark * queues.pool.num_blocks)
    if on_full is OnFull.NO_EVICT:
        kept += blocks_to_the_end(queues)
    return kept


def blocks_to_the_end(queues: Queues) -> int:
    """Further blocks that those who run would take with their longest possible outputs."""
    missing = queues.pool.missing
    return sum([missing(seq, seq.max_num_tokens) for seq in queues.running if not seq.is_finished])


def can_go_on(queues: Queues, settings: EngineSettings) -> bool:
    """Whether those who run could run under other settings, in the slots and blocks they have.

    Where nobody is ever evicted, there has to be room for whole outputs.
    """
    if queues.num_slots > settings.num_slots:
        return False
    is_continuous = settings.batcher is BatcherName.CONTINUOUS
    if is_continuous and settings.on_full is not OnFull.NO_EVICT:
        return True
    return blocks_to_the_end(queues) <= queues.pool.num_free
