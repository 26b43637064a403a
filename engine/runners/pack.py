"""From a plan to the flat input of one forward pass: `pack`. Plain integers, no tensors.

All rows lie side by side in one sequence of T tokens, so that no row of a ragged plan needs
padding. A rectangular plan is padded all the same, because that is what it stands for. Rows of
like shape and length lie next to each other, so that they can attend together.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.plan import Plan, Row


@dataclass(frozen=True, slots=True)
class Span:
    """The tokens of one row in the packed input, and the context that they attend to.

    Token i of the span stands at position `min(num_computed + i, kv_len - 1)` of its context,
    so that padding sees what the row's last token sees.

    Attributes:
        start: index of its first token in the packed input.
        num_tokens: padding counted.
        num_computed: tokens of the row in the cache before this pass.
        kv_len: tokens of the row in the cache once this pass has written its own.
        block_table: ids of the blocks that hold them, in order.
    """

    start: int
    num_tokens: int
    num_computed: int
    kv_len: int
    block_table: list[int]


@dataclass(slots=True)
class Packed:
    """One forward pass over T tokens.

    Attributes:
        token_ids, positions: of each token, length T.
        write_slots: where in the cache each token's key and value go, length T.
        spans: one a row, in order of `start`.
        sample_at: index of the last token of each row that samples, in the order of the plan.
    """

    token_ids: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    write_slots: list[int] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    sample_at: list[int] = field(default_factory=list)


def pack(plan: Plan, block_size: int, scratch_slot: int) -> Packed:
    """Lay the rows of a plan side by side.

    A dead row computes its newest token once more and attends to its own context, which is what
    it costs in an engine that keeps it in the batch.

    Args:
        scratch_slot: where padding and dead rows write; nobody reads it.
    """
    packed = Packed()
    width = plan.width if plan.rectangular else 0
    last_tokens: dict[int, int] = {}
    for index in sorted(range(len(plan.rows)), key=lambda index: _likeness(plan.rows[index])):
        row = plan.rows[index]
        start = len(packed.token_ids)
        num_live = _add_live(packed, row, block_size) or _add_dead(packed, row, scratch_slot)
        last_tokens[index] = start + num_live - 1
        padding = max(0, width - num_live)
        packed.token_ids.extend([0] * padding)
        packed.positions.extend([0] * padding)
        packed.write_slots.extend([scratch_slot] * padding)
        packed.spans.append(_span(row, start, num_live + padding))
    packed.sample_at = [last_tokens[i] for i, row in enumerate(plan.rows) if row.samples]
    return packed


def _likeness(row: Row) -> tuple[int, bool, int]:
    """Sorts rows so that those which can attend together are neighbours."""
    num_computed = row.seq.num_computed
    return max(1, row.num_tokens), num_computed > 0, num_computed


def _add_live(packed: Packed, row: Row, block_size: int) -> int:
    """Add the tokens that a row computes; return how many."""
    begin, end = row.seq.num_computed, row.seq.num_computed + row.num_tokens
    table = row.seq.block_table
    packed.token_ids.extend(row.seq.token_ids[begin:end])
    packed.positions.extend(range(begin, end))
    packed.write_slots.extend(
        table[position // block_size] * block_size + position % block_size
        for position in range(begin, end)
    )
    return row.num_tokens


def _add_dead(packed: Packed, row: Row, scratch_slot: int) -> int:
    """Add the newest token of a finished row; return 1."""
    packed.token_ids.append(row.seq.token_ids[-1])
    packed.positions.append(row.seq.num_computed)
    packed.write_slots.append(scratch_slot)
    return 1


def _span(row: Row, start: int, num_tokens: int) -> Span:
    num_computed = row.seq.num_computed
    return Span(start, num_tokens, num_computed, num_computed + row.num_tokens, row.seq.block_table)
