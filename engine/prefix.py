"""`PrefixTree`: which block holds the keys and values of which tokens, behind which others.

A key depends on every token before it, so a block is found by all tokens up to its last one: by
a path from the root, one block an edge. The edges are tuples of token ids in dictionaries, which
compare what they find: two different prefixes can never be taken for each other, as they could
be with a chain of hashes alone. Sources: RadixAttention (Zheng et al. 2024, SGLang, section 3),
with the granularity of vLLM's automatic prefix caching (`vllm/v1/core/kv_cache_utils.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

Tokens = tuple[int, ...]


@dataclass(slots=True, eq=False)
class Node:
    """A prefix of whole blocks.

    Attributes:
        tokens: of its last block.
        depth: blocks in it.
        block: the one that holds the last tokens; None if none does any more.
        num_pins: sequences that will add what follows it.
    """

    parent: Node | None = None
    tokens: Tokens = ()
    depth: int = 0
    block: int | None = None
    children: dict[Tokens, Node] = field(default_factory=dict)
    num_pins: int = 0


class PrefixTree:
    """Every prefix whose keys and values lie in the cache.

    Args:
        block_size: tokens a block.
    """

    def __init__(self, block_size: int) -> None:
        self.root = Node()
        self._block_size = block_size
        self._nodes: dict[int, Node] = {}

    def __contains__(self, block: int) -> bool:
        return block in self._nodes

    @property
    def blocks(self) -> frozenset[int]:
        """All that hold a known prefix."""
        return frozenset(self._nodes)

    def node(self, block: int) -> Node:
        """The prefix whose last tokens a block holds."""
        return self._nodes[block]

    def find(self, token_ids: list[int], num_tokens: int) -> list[Node]:
        """The nodes along the longest known prefix of the first `num_tokens` ids."""
        node, found = self.root, []
        for end in range(self._block_size, num_tokens + 1, self._block_size):
            child = node.children.get(tuple(token_ids[end - self._block_size : end]))
            if child is None or child.block is None:
                break
            found.append(child)
            node = child
        return found

    def add(self, parent: Node, tokens: Tokens, block: int) -> Node:
        """Note that `block` holds `tokens` behind a prefix.

        If another block holds the same already, that one stays the one to be found.
        """
        node = parent.children.get(tokens)
        if node is None:
            node = parent.children[tokens] = Node(parent, tokens, parent.depth + 1)
        if node.block is None:
            node.block = block
            self._nodes[block] = node
        return node

    def remove(self, block: int) -> None:
        """Forget what a block holds, because it is to hold something else."""
        node = self._nodes.pop(block)
        node.block = None
        _prune(node)

    def pin(self, node: Node) -> None:
        """Keep a node, although no block may hold it, for what will be added behind it."""
        node.num_pins += 1

    def unpin(self, node: Node) -> None:
        """Take back a `pin`."""
        node.num_pins -= 1
        _prune(node)


def _prune(node: Node) -> None:
    """Cut off a branch that leads to no block and that nobody will add to."""
    while node.parent and node.block is None and not node.children and not node.num_pins:
        del node.parent.children[node.tokens]
        node = node.parent
