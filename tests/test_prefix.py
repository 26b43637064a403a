from __future__ import annotations

from engine.prefix import Node, PrefixTree


def grow(tree: PrefixTree, *blocks: tuple[tuple[int, ...], int]) -> Node:
    """Add blocks behind each other; return the last node."""
    node = tree.root
    for tokens, block in blocks:
        node = tree.add(node, tokens, block)
    return node


def found(tree: PrefixTree, *token_ids: int) -> list[int | None]:
    return [node.block for node in tree.find(list(token_ids), len(token_ids))]


def test_the_longest_known_prefix_is_found_in_whole_blocks():
    tree = PrefixTree(block_size=2)
    grow(tree, ((1, 2), 7), ((3, 4), 5))
    assert found(tree, 1, 2, 3, 4, 9) == [7, 5]
    assert found(tree, 1, 2, 3) == [7]
    assert found(tree, 1) == found(tree, 2, 1) == []


def test_the_same_tokens_behind_others_are_another_prefix():
    tree = PrefixTree(block_size=2)
    grow(tree, ((1, 2), 0), ((3, 4), 1))
    assert found(tree, 3, 4) == found(tree, 9, 9, 3, 4) == []


def test_ids_with_equal_hashes_are_told_apart():
    """In Python -1 and -2 have the same hash, and so have tuples of them."""
    assert hash((-1, 5)) == hash((-2, 5))
    tree = PrefixTree(block_size=2)
    grow(tree, ((-1, 5), 3))
    assert found(tree, -2, 5) == []


def test_of_two_blocks_with_the_same_content_the_first_stays():
    tree = PrefixTree(block_size=2)
    first = grow(tree, ((1, 2), 0))
    assert grow(tree, ((1, 2), 1)) is first
    assert (first.block, tree.blocks) == (0, {0})
    tree.remove(0)
    assert found(tree, 1, 2) == []
    grow(tree, ((1, 2), 1))
    assert found(tree, 1, 2) == [1]


def test_what_lies_behind_a_lost_block_is_found_again_with_it():
    tree = PrefixTree(block_size=2)
    grow(tree, ((1, 2), 0), ((3, 4), 1))
    tree.remove(0)
    assert found(tree, 1, 2, 3, 4) == []
    grow(tree, ((1, 2), 8))
    assert found(tree, 1, 2, 3, 4) == [8, 1]


def test_a_branch_without_blocks_is_cut_off():
    tree = PrefixTree(block_size=2)
    grow(tree, ((1, 2), 0), ((3, 4), 1))
    tree.remove(0)
    assert tree.root.children
    tree.remove(1)
    assert not tree.root.children


def test_a_pinned_node_stays_for_what_will_follow():
    tree = PrefixTree(block_size=2)
    node = grow(tree, ((1, 2), 0))
    tree.pin(node)
    tree.remove(0)
    tree.add(node, (3, 4), 1)
    grow(tree, ((1, 2), 2))
    assert found(tree, 1, 2, 3, 4) == [2, 1]
    tree.remove(1)
    tree.remove(2)
    tree.unpin(node)
    assert not tree.root.children
