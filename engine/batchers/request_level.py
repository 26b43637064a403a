"""What static and dynamic batching share: a batch is admitted as one and ends as one."""

from __future__ import annotations

from engine.plan import Plan, Row, Skip, SkipReason
from engine.queues import Queues


def run_batch(
    queues: Queues, max_batch_size: int, *, starts: bool, deadline: float | None = None
) -> Plan:
    """Go on with the running batch; with none, and if it `starts`, form a new one.

    Args:
        deadline: seconds on the clock when an incomplete batch starts, for the explanation.
    """
    if all(seq.is_finished for seq in queues.running):
        queues.retire_finished()
    skipped: tuple[Skip, ...] = ()
    if queues.running:
        skipped = _skip_head(queues, SkipReason.POLICY)
    elif starts:
        skipped = _form_batch(queues, max_batch_size)
    else:
        skipped = _skip_head(
            queues, SkipReason.COMPANY, max_batch_size, len(queues.waiting), deadline
        )
    if not any(seq.num_uncomputed for seq in queues.running if not seq.is_finished):
        return Plan(rectangular=True, skipped=skipped)  # the last tokens of the batch are under way
    rows = []
    for seq in queues.running:
        grown = seq.is_finished or queues.pool.grow(seq, seq.num_tokens)
        assert grown, f"{seq.id}: a batch was admitted that its cache cannot hold"
        rows.append(Row(seq, 0 if seq.is_finished else seq.num_uncomputed))
    return Plan(tuple(rows), rectangular=True, skipped=skipped)


def _form_batch(queues: Queues, max_batch_size: int) -> tuple[Skip, ...]:
    """Admit up to what the cache holds for the longest possible outputs.

    So a batch, once started, never runs out of blocks.
    """
    queues.is_flushing = False
    pool, left = queues.pool, queues.pool.num_free
    while queues.waiting:
        head = queues.waiting[0]
        if len(queues.running) == max_batch_size:
            return _skip_head(queues, SkipReason.SLOTS, 1, 0)
        prefix = pool.find_prefix(head)
        need = pool.missing(head, head.request.max_num_tokens, prefix)
        if need > left:
            return _skip_head(queues, SkipReason.BLOCKS, need, left)
        left -= need
        begun = pool.begin(head, head.num_tokens, prefix)
        assert begun, f"{head.id}: the cache has fewer blocks than it counted"
        pool.promise(queues.admit(), head.num_tokens)
    return ()


def _skip_head(
    queues: Queues,
    reason: SkipReason,
    needed: int = 0,
    available: int = 0,
    until: float | None = None,
) -> tuple[Skip, ...]:
    if not queues.waiting:
        return ()
    return (Skip(queues.waiting[0].id, reason, needed, available, until),)
