"""What the KV cache has to have free before continuous batching lets a sequence begin."""

from __future__ import annotations

from math import ceil

from engine.queues import Queues
from engine.request import Sequence
from engine.settings import OnFull


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
        for seq in queues.running:
            kept += queues.pool.missing(seq, seq.request.max_num_tokens)
    return kept
