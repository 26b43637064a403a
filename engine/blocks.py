"""`BlockPool`: which blocks of the paged KV cache belong to which sequence.

Book-keeping only, no tensors: the torch runner holds the memory, this holds the ids.
Source: PagedAttention, Kwon et al. 2023, section 4 (https://arxiv.org/abs/2309.06180).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from engine.request import Sequence


@dataclass(frozen=True, slots=True)
class Lookup:
    """What the cache already held of a sequence when it was admitted; counted as vLLM counts.

    Attributes:
        num_tokens: that were looked for, all that the sequence had.
        num_hit: that need not be computed.
        is_resumed: after a preemption, so that what is found says nothing of sharing.
    """

    num_tokens: int
    num_hit: int
    is_resumed: bool = False


@dataclass(frozen=True, slots=True)
class BlockChange:
    """Blocks that one sequence took or gave back, in order of its context.

    Attributes:
        cached: those of its own that others may share from now on, until somebody takes them
            for something else.
        lookup: with prefix caching, of a sequence that begins: the first of `taken` are those
            that hold its hits already.
        forgotten: those that nobody can find any more, since the pass that was to fill them failed.
    """

    request_id: str
    taken: tuple[int, ...] = ()
    released: tuple[int, ...] = ()
    cached: tuple[int, ...] = ()
    lookup: Lookup | None = None
    forgotten: tuple[int, ...] = ()


class BlockPool:
    """A fixed set of KV blocks of `block_size` tokens each, handed out one by one.

    Invariant: every block id is either free or in exactly one block table. A `CachingPool` lets
    several share one; what it adds does nothing here.

    Args:
        num_blocks: blocks in the cache, at least 1.
        block_size: tokens a block, at least 1.
        reserve_tokens: a sequence takes room for at least so many tokens at once, as engines
            before PagedAttention did; 0 grows block by block.
    """

    is_caching: ClassVar[bool] = False

    def __init__(self, num_blocks: int, block_size: int = 16, reserve_tokens: int = 0) -> None:
        if num_blocks < 1 or block_size < 1:
            raise ValueError(f"need at least 1 x 1 tokens, got {num_blocks} x {block_size}")
        self.num_blocks = num_blocks
        self.block_size = block_size
        self.reserve_tokens = reserve_tokens
        self._released: list[int] = []  # handed out again before blocks that nobody had yet
        self._num_touched = 0
        self._changes: list[BlockChange] = []

    @property
    def num_free(self) -> int:
        return self.num_blocks - self._num_touched + len(self._released)

    @property
    def num_used(self) -> int:
        return self._num_touched - len(self._released)

    def blocks_for(self, num_tokens: int) -> int:
        """Blocks that a sequence of `num_tokens` tokens takes, its reserve included."""
        return -(-max(num_tokens, self.reserve_tokens) // self.block_size)

    @property
    def cached(self) -> frozenset[int]:
        """Blocks that a sequence with the right beginning would share."""
        return frozenset()

    def missing(self, seq: Sequence, num_tokens: int, prefix: tuple[int, ...] = ()) -> int:
        """Further blocks that `seq` needs to hold its first `num_tokens` tokens.

        Args:
            prefix: what `find_prefix` found.
        """
        return max(0, self.blocks_for(num_tokens) - len(seq.block_table))

    def find_prefix(self, seq: Sequence) -> tuple[int, ...]:
        """Blocks that hold the beginning of `seq` already, in order; here there are none."""
        return ()

    def begin(self, seq: Sequence, num_tokens: int, prefix: tuple[int, ...]) -> bool:
        """As `grow`, for a sequence that holds nothing yet, with the prefix that was found for it.

        What the prefix holds counts as computed.
        """
        return self.grow(seq, num_tokens)

    def publish(self, seq: Sequence, num_tokens: int) -> None:
        """Let others find the blocks that the first `num_tokens` tokens fill.

        Their keys and values have been computed, and every one of their ids is known.
        """

    def promise(self, seq: Sequence, num_tokens: int) -> None:
        """As `publish`, of tokens that the pass which is being planned will compute.

        Keys and values of a whole pass are written before any of its rows reads them, layer by
        layer, so those who begin in the same pass may share them already.
        """

    def take_promised(self) -> tuple[int, ...]:
        """Blocks promised since the last call, which that pass has to fill."""
        return ()

    def retract(self, blocks: Iterable[int]) -> None:
        """Let nobody find these any more: a pass that was to fill them has failed."""

    def grow(self, seq: Sequence, num_tokens: int) -> bool:
        """Make room for the first `num_tokens` tokens of `seq`; all or nothing.

        Returns:
            False, and nothing changed, if too few blocks are free.
        """
        if num_tokens <= len(seq.block_table) * self.block_size:
            return True  # most tokens go into the block of the one before
        need = self.missing(seq, num_tokens)
        if need > self.num_free:
            return False
        if need:
            taken = tuple(self._take() for _ in range(need))
            seq.block_table.extend(taken)
            self._changes.append(BlockChange(seq.id, taken=taken))
        return True

    def release(self, seq: Sequence) -> None:
        """Take back every block of `seq`; one that holds none is left alone."""
        if seq.block_table:
            self._changes.append(BlockChange(seq.id, released=tuple(seq.block_table)))
            self._released.extend(reversed(seq.block_table))
            seq.block_table.clear()

    @property
    def has_changes(self) -> bool:
        """Whether blocks changed hands since `take_changes` was last called."""
        return bool(self._changes)

    def take_changes(self) -> tuple[BlockChange, ...]:
        """What changed since the last call, in order."""
        changes = tuple(self._changes)
        self._changes.clear()
        return changes

    def forget(self, seq: Sequence) -> None:
        """Tell nobody of a sequence that came and went since `take_changes` was last called."""
        self._changes = [change for change in self._changes if change.request_id != seq.id]

    def _take(self) -> int:
        if self._released:
            return self._released.pop()
        self._num_touched += 1
        return self._num_touched - 1
