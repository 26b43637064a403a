"""How the rows of a plan lie side by side in one forward pass: `pack`.

All rows lie in one sequence of T tokens, so that no row of a ragged plan needs padding. A
rectangular plan is padded all the same, because that is what it stands for. Rows of like shape and
length lie next to each other, so that they can attend together.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from engine.plan import Plan, Row, RunnerError
from engine.request import Sequence
from engine.runners.inputs.slots import SlotTable


class Span(NamedTuple):
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


@dataclass(frozen=True, slots=True)
class Packed:
    """One forward pass over T tokens; the lists have one entry a row, in the order they lie in.

    A dead row computes its newest token once more and attends to its own context, which is what
    it costs in an engine that keeps it in the batch.

    Attributes:
        rows: the plan's.
        slots: of their sequences.
        starts, widths: where its tokens lie, and how many, padding counted.
        num_tokens: T.
        sampling: the sequences that sample, in the order of the plan.
        sample_at: the last token of each.
        sample_slots: the slot of each.
        ruled_out: ids that one must not sample, by its place among them.
    """

    rows: list[Row]
    slots: list[int]
    starts: list[int]
    widths: list[int]
    num_tokens: int
    sampling: list[Sequence]
    sample_at: list[int]
    sample_slots: list[int]
    ruled_out: dict[int, frozenset[int]]

    @property
    def is_single(self) -> bool:
        """Whether every row has one token."""
        return self.num_tokens == len(self.rows)

    @property
    def num_ruled_out(self) -> int:
        """Ids that a row must not sample, at most."""
        return max(map(len, self.ruled_out.values()), default=0)

    def spans(self) -> list[Span]:
        """One a row."""
        return [
            Span(
                start,
                width,
                row.seq.num_computed,
                row.seq.num_computed + row.num_tokens,
                row.seq.block_table,
            )
            for row, start, width in zip(self.rows, self.starts, self.widths, strict=True)
        ]


EMPTY = Packed([], [], [], [], 0, [], [], [], {})


def pack(plan: Plan, slots: SlotTable) -> Packed:
    """Lay the rows of a plan side by side, and take in what is new in their slots.

    Raises:
        RunnerError: a row would read or write beyond its blocks, or beyond the cache. The kernels
            do not look, and would do so in memory of others.
    """
    rows = sorted(plan.rows, key=_likeness)
    _insist_on_blocks(rows, slots.block_size)
    width = plan.width if plan.rectangular else 1
    widths = [max(row.num_tokens, width) for row in rows]
    ends = list(accumulate(widths))
    starts = [end - width for end, width in zip(ends, widths, strict=True)]
    last = {id(row): start + row.num_tokens - 1 for row, start in zip(rows, starts, strict=True)}
    sampling = [row for row in plan.rows if row.samples]
    row_slots = [slots.update(row.seq) for row in rows]
    sample_slots = [slots.update(row.seq) for row in sampling]
    return Packed(
        rows,
        slots=row_slots,
        starts=starts,
        widths=widths,
        num_tokens=ends[-1],
        sampling=[row.seq for row in sampling],
        sample_at=[last[id(row)] for row in sampling],
        sample_slots=sample_slots,
        ruled_out=slots.rule_out(sample_slots),
    )


def _insist_on_blocks(rows: list[Row], block_size: int) -> None:
    for row in rows:
        seq = row.seq
        needed, num_blocks = seq.num_computed + row.num_tokens, len(seq.block_table)
        if needed > num_blocks * block_size:
            raise RunnerError(
                f"{seq.id} needs room for {needed} tokens and has {num_blocks} blocks of "
                f"{block_size}: its block table must grow before the pass"
            )


def _likeness(row: Row) -> tuple[int, int]:
    """Sorts rows so that those which can attend together are neighbours."""
    return max(1, row.num_tokens), row.seq.num_computed
