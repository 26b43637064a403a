"""How the rows of a pass are cut into pieces that attend together: `Cutter`, `Piece`.

Shapes: T tokens in the pass; R rows of N queries and C keys in a piece; H query heads in groups
of G that share one of K key/value heads; D dimensions a head.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from engine.runners.inputs.pack import Span


@dataclass(frozen=True, slots=True)
class Piece:
    """Neighbouring rows of one width.

    Attributes:
        num_rows, width: R and N.
        tokens: which tokens of the pass they are.
        blocks: of the cached keys and values, [R * C / block_size]; None where the rows begin in
            this pass, so that its own keys and values are all there is.
        mask: 0 where a query sees a key, else -inf, [R or 1, 1, G * N or 1, C]; None for causal.
    """

    num_rows: int
    width: int
    tokens: slice
    blocks: torch.Tensor | None
    mask: torch.Tensor | None


@dataclass(frozen=True, slots=True)
class Cutter:
    """Cuts the spans of a pass for the layers that attend alike.

    Attributes:
        block_size: tokens a block of the cache.
        window: a token sees so many tokens, itself included; None for all.
        num_groups: G.
        group_tokens: cached tokens, padding included, that one piece gathers at most.
        padding_tokens: so many of them are padding at most.
        needs_masks: whether rows that begin in this pass need a mask too.
    """

    block_size: int
    window: int | None
    num_groups: int
    group_tokens: int
    padding_tokens: int
    needs_masks: bool
    dtype: torch.dtype
    device: torch.device

    def cut(self, spans: list[Span]) -> list[Piece]:
        """Cut the spans, which lie in order of width and length, into pieces."""
        groups: list[list[Span]] = []
        num_own = 0  # blocks that the rows of the last group have themselves
        for span in spans:
            num_blocks = self._end(span) - self._begin(span)
            if groups and self._joins(span, groups[-1], num_blocks, num_own):
                groups[-1].append(span)
                num_own += num_blocks
            else:
                groups.append([span])
                num_own = num_blocks
        return [self._fresh(g) if _is_fresh(g[0]) else self._cached(g) for g in groups]

    def _joins(self, span: Span, group: list[Span], num_blocks: int, num_own: int) -> bool:
        if span.num_tokens != group[0].num_tokens or _is_fresh(span) != _is_fresh(group[0]):
            return False
        if _is_fresh(span):
            return True
        gathered = (len(group) + 1) * num_blocks
        padding = gathered - num_own - num_blocks
        is_small = gathered * self.block_size <= self.group_tokens
        return is_small and padding * self.block_size <= self.padding_tokens

    def _fresh(self, group: list[Span]) -> Piece:
        """Rows whose whole context is in this pass."""
        width = group[0].num_tokens
        mask = None
        if self.window is not None or self.needs_masks:
            mask = self._mask([list(range(width))], width)
        return Piece(len(group), width, _tokens(group), None, mask)

    def _cached(self, group: list[Span]) -> Piece:
        """Rows whose context is gathered from the cache, padded to the longest of them."""
        width = group[0].num_tokens
        begins = [self._begin(span) for span in group]
        pairs = list(zip(group, begins, strict=True))
        num_blocks = max(self._end(span) - begin for span, begin in pairs)
        blocks: list[int] = []
        positions: list[list[int]] = []
        for span, begin in pairs:
            own = span.block_table[begin : min(begin + num_blocks, self._end(span))]
            blocks += own + own[:1] * (num_blocks - len(own))  # masked, but never another's
            first, last = span.num_computed, span.kv_len - 1
            offset = begin * self.block_size
            positions.append([min(first + i, last) - offset for i in range(width)])
        mask = self._mask(positions, num_blocks * self.block_size)
        table = torch.tensor(blocks, device=self.device)
        return Piece(len(group), width, _tokens(group), table, mask)

    def _begin(self, span: Span) -> int:
        """Index in its block table of the first block that the span sees."""
        if self.window is None:
            return 0
        first_position = min(span.num_computed, span.kv_len - 1)
        return max(0, first_position - self.window + 1) // self.block_size

    def _end(self, span: Span) -> int:
        """Number of blocks that hold the span's context."""
        return -(-span.kv_len // self.block_size)

    def _mask(self, positions: list[list[int]], num_keys: int) -> torch.Tensor:
        """0 where a query sees a key, else -inf, [R, 1, G * N, C], or [R, 1, 1, C] for N = 1.

        Args:
            positions: of the queries among the piece's keys, R lists of N.
        """
        queries = torch.tensor(positions, device=self.device)[:, None, :, None]
        keys = torch.arange(num_keys, device=self.device)
        is_hidden = keys > queries
        if self.window is not None:
            is_hidden |= keys <= queries - self.window
        mask = torch.zeros(is_hidden.shape, dtype=self.dtype, device=self.device)
        mask.masked_fill_(is_hidden, float("-inf"))
        return mask if mask.shape[2] == 1 else mask.repeat(1, 1, self.num_groups, 1)


def _is_fresh(span: Span) -> bool:
    return span.num_tokens > 1 and not span.num_computed


def _tokens(group: list[Span]) -> slice:
    return slice(group[0].start, group[-1].start + group[-1].num_tokens)
