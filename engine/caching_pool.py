"""`CachingPool`: a `BlockPool` that lets sequences with the same beginning share its blocks.

A full block stays findable by what it holds until its memory is needed for something else, even
when nobody holds it any more. What vLLM calls automatic prefix caching; as there, those who begin
in one pass share what one of them computes in it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from engine.blocks import BlockChange, BlockPool, Lookup
from engine.prefix import Node, PrefixTree
from engine.request import PENDING, Sequence


class CachingPool(BlockPool):
    """A pool in which a block has any number of holders.

    Invariant: every block is held by one or more sequences, or cached and idle, or empty. A block
    that can be found is never written to: it is full, and whoever shares it computes at least its
    last token into a block of its own.
    """

    is_caching = True

    def __init__(self, num_blocks: int, block_size: int = 16, reserve_tokens: int = 0) -> None:
        super().__init__(num_blocks, block_size, reserve_tokens)
        self._tree = PrefixTree(block_size)
        self._num_holders: dict[int, int] = {}
        self._idle: OrderedDict[int, None] = OrderedDict()  # least recently used first
        self._ends: dict[Sequence, Node] = {}  # how far each sequence is in the tree
        self._promised: list[int] = []

    @property
    def num_free(self) -> int:
        return super().num_free + len(self._idle)

    @property
    def num_used(self) -> int:
        return super().num_used - len(self._idle)

    @property
    def cached(self) -> frozenset[int]:
        return self._tree.blocks

    def find_prefix(self, seq: Sequence) -> tuple[int, ...]:
        """Blocks that hold the beginning of `seq`, its last token never among it."""
        found = self._tree.find(seq.token_ids, seq.num_tokens - 1)
        return tuple(node.block for node in found if node.block is not None)

    def missing(self, seq: Sequence, num_tokens: int, prefix: tuple[int, ...] = ()) -> int:
        """Free blocks that `seq` takes, those of its prefix included that nobody holds."""
        num_shared = sum(block not in self._idle for block in prefix)
        return max(0, self.blocks_for(num_tokens) - len(seq.block_table) - num_shared)

    def begin(self, seq: Sequence, num_tokens: int, prefix: tuple[int, ...]) -> bool:
        assert not seq.block_table, f"{seq.id} began already"
        if self.missing(seq, num_tokens, prefix) > self.num_free:
            return False
        for block in prefix:
            self._idle.pop(block, None)
            self._num_holders[block] = self._num_holders.get(block, 0) + 1
        num_others = self.blocks_for(num_tokens) - len(prefix)
        taken = prefix + tuple(self._take() for _ in range(num_others))
        seq.block_table.extend(taken)
        seq.num_computed = len(prefix) * self.block_size
        lookup = Lookup(seq.num_tokens, seq.num_computed, seq.num_preemptions > 0)
        self._changes.append(BlockChange(seq.id, taken=taken, lookup=lookup))
        self._follow(seq, self._tree.node(prefix[-1]) if prefix else self._tree.root)
        return True

    def publish(self, seq: Sequence, num_tokens: int) -> None:
        node = self._ends.get(seq)
        if node is None or num_tokens < (node.depth + 1) * self.block_size:
            return  # most tokens fill no block
        cached = []
        while (end := (node.depth + 1) * self.block_size) <= num_tokens:
            tokens = tuple(seq.token_ids[end - self.block_size : end])
            assert min(tokens) >= 0, f"{seq.id}: a token is not known yet"
            block = seq.block_table[node.depth]
            node = self._tree.add(node, tokens, block)
            if node.block == block:  # and no other one that holds the same
                cached.append(block)
        self._follow(seq, node)
        if cached:
            self._changes.append(BlockChange(seq.id, cached=tuple(cached)))

    def promise(self, seq: Sequence, num_tokens: int) -> None:
        is_known = seq.token_ids[-1] != PENDING
        num_changes = len(self._changes)
        self.publish(seq, min(num_tokens, seq.num_tokens if is_known else seq.num_tokens - 1))
        for change in self._changes[num_changes:]:
            self._promised += change.cached

    def take_promised(self) -> tuple[int, ...]:
        promised, self._promised = tuple(self._promised), []
        return promised

    def retract(self, blocks: Iterable[int]) -> None:
        forgotten = tuple(block for block in blocks if block in self._tree)
        for block in forgotten:
            self._tree.remove(block)
            if block in self._idle:
                del self._idle[block]
                self._released.append(block)
        if forgotten:
            self._changes.append(BlockChange("", forgotten=forgotten))

    def release(self, seq: Sequence) -> None:
        if not seq.block_table:
            return
        self._changes.append(BlockChange(seq.id, released=tuple(seq.block_table)))
        for block in reversed(seq.block_table):  # so that the end of a prefix is lost first
            self._let_go(block)
        seq.block_table.clear()
        if node := self._ends.pop(seq, None):
            self._tree.unpin(node)

    def forget(self, seq: Sequence) -> None:
        """Nothing can be kept back: what it took may have been a block that others could share."""

    def _follow(self, seq: Sequence, node: Node) -> None:
        self._tree.pin(node)
        if before := self._ends.get(seq):
            self._tree.unpin(before)
        self._ends[seq] = node

    def _let_go(self, block: int) -> None:
        self._num_holders[block] -= 1
        if self._num_holders[block]:
            return
        del self._num_holders[block]
        if block in self._tree:
            self._idle[block] = None
        else:
            self._released.append(block)

    def _take(self) -> int:
        """A block with nothing worth keeping; else the one that was of no use for longest."""
        if self._released or self._num_touched < self.num_blocks:
            block = super()._take()
        else:
            block, _ = self._idle.popitem(last=False)
            self._tree.remove(block)
        self._num_holders[block] = 1
        return block
