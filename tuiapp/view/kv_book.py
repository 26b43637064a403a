"""`KvBook`: who holds which KV blocks and which can be shared, folded from the log."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy

from engine.blocks import BlockChange, Lookup
from engine.events import Keyframe


class KvBook:
    """The blocks of one cache.

    Attributes:
        owners: of each block, who held it first of those who do now; None where nobody does.
        cached: blocks whose content can be found and shared, whether or not somebody holds them.
        num_looked_up, num_hit: tokens of new requests, and those that were in the cache already.
    """

    def __init__(self, num_blocks: int = 0, block_size: int = 1) -> None:
        self.owners: list[str | None] = [None] * num_blocks
        self.cached: set[int] = set()
        self.num_looked_up = self.num_hit = 0
        self._block_size = block_size
        self._others: dict[int, tuple[str, ...]] = {}  # who shares a block with its owner

    @property
    def num_used(self) -> int:
        return len(self.owners) - self.owners.count(None)

    @property
    def sharing(self) -> Mapping[int, int]:
        """How many hold a block, where there is more than one."""
        return {block: 1 + len(others) for block, others in self._others.items()}

    def copy(self) -> KvBook:
        """A second one that changes on its own."""
        twin = copy(self)
        twin.owners, twin.cached = self.owners.copy(), self.cached.copy()
        twin._others = self._others.copy()
        return twin

    def move(self, change: BlockChange) -> None:
        """Blocks changed hands."""
        for block in change.released:
            self._let_go(block, change.request_id)
        num_known = 0
        if change.lookup:
            self._count(change.lookup)
            num_known = change.lookup.num_hit // self._block_size
        for at, block in enumerate(change.taken):
            if at >= num_known:
                self.cached.discard(block)
            self._hold(block, change.request_id)
        self.cached.update(change.cached)
        self.cached.difference_update(change.forgotten)

    def resume(self, frame: Keyframe) -> None:
        """Begin with what a keyframe says."""
        self.cached = set(frame.cached)
        for holding in frame.running:
            for block in holding.blocks:
                self._hold(block, holding.request_id)

    def _hold(self, block: int, request_id: str) -> None:
        if self.owners[block] is None:
            self.owners[block] = request_id
        else:
            self._others[block] = (*self._others.get(block, ()), request_id)

    def _let_go(self, block: int, request_id: str) -> None:
        if block not in self._others:
            self.owners[block] = None
            return
        others = list(self._others.pop(block))
        if self.owners[block] == request_id:
            self.owners[block] = others.pop(0)
        else:
            others.remove(request_id)
        if others:
            self._others[block] = tuple(others)

    def _count(self, lookup: Lookup) -> None:
        if not lookup.is_resumed:
            self.num_looked_up += lookup.num_tokens
            self.num_hit += lookup.num_hit
