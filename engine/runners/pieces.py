"""How the rows of a pass are cut into pieces that attend together: `cut`, `Piece`.

Shapes: T tokens in the pass; R rows of N queries and C keys in a piece; H query heads in groups
of G that share one of K key/value heads; D dimensions a head.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from engine.runners.attend import AttentionOptions, attend, attend_causal
from engine.runners.kv_cache import LayerCache
from engine.runners.pack import Span


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

    def run(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        cache: LayerCache,
        options: AttentionOptions,
    ) -> torch.Tensor:
        """Attend.

        Args:
            query: [T, H, D].
            key, value: [T, K, D].

        Returns:
            [R * N, H, D].
        """
        query = query[self.tokens]
        if self.blocks is None:
            keys, values = key[self.tokens], value[self.tokens]
        else:
            keys = cache.keys.index_select(0, self.blocks)
            values = cache.values.index_select(0, self.blocks)
        keys, values = self._by_head(keys), self._by_head(values)
        if self.mask is None:
            output = attend_causal(self._by_head(query), keys, values, options)
            return output.transpose(1, 2).flatten(0, 1)
        output = attend(self._by_group(query, keys.shape[1]), keys, values, self.mask, options)
        output = output.view(*output.shape[:2], -1, self.width, output.shape[-1])
        return output.permute(0, 3, 1, 2, 4).flatten(2, 3).flatten(0, 1)  # from [R, K, G, N, D]

    def _by_head(self, tensor: torch.Tensor) -> torch.Tensor:
        """[R * C, K, D], or blocks of it, as [R, K, C, D]."""
        return tensor.view(self.num_rows, -1, *tensor.shape[-2:]).transpose(1, 2)

    def _by_group(self, query: torch.Tensor, num_kv_heads: int) -> torch.Tensor:
        """[R * N, H, D] as [R, K, G * N, D]."""
        query = query.reshape(self.num_rows, self.width, num_kv_heads, -1, query.shape[-1])
        return query.permute(0, 2, 3, 1, 4).flatten(2, 3)


@dataclass(frozen=True, slots=True)
class Cutter:
    """Cuts the spans of a pass for the layers that attend alike.

    Attributes:
        block_size: tokens a block of the cache.
        window: a token sees so many tokens, itself included; None for all.
        num_groups: G.
        group_tokens: cached tokens, padding included, that one piece gathers at most.
        needs_masks: whether rows that begin in this pass need a mask too.
    """

    block_size: int
    window: int | None
    num_groups: int
    group_tokens: int
    needs_masks: bool
    dtype: torch.dtype
    device: torch.device

    def cut(self, spans: list[Span]) -> list[Piece]:
        """Cut the spans, which lie in order of width and length, into pieces."""
        groups: list[list[Span]] = []
        for span in spans:
            if groups and self._joins(span, groups[-1]):
                groups[-1].append(span)
            else:
                groups.append([span])
        return [self._fresh(g) if _is_fresh(g[0]) else self._cached(g) for g in groups]

    def _joins(self, span: Span, group: list[Span]) -> bool:
        if span.num_tokens != group[0].num_tokens or _is_fresh(span) != _is_fresh(group[0]):
            return False
        num_blocks = self._end(span) - self._begin(span)
        gathered = (len(group) + 1) * num_blocks * self.block_size
        return _is_fresh(span) or gathered <= self.group_tokens

    def _fresh(self, group: list[Span]) -> Piece:
        """Rows whose whole context is in this pass."""
        width = group[0].num_tokens
        mask = None
        if self.window is not None or self.needs_masks:
            whole = Span(0, width, 0, width, [])
            mask = self._mask([whole], [0], width)
        return Piece(len(group), width, _tokens(group), None, mask)

    def _cached(self, group: list[Span]) -> Piece:
        """Rows whose context is gathered from the cache, padded to the longest of them."""
        begins = [self._begin(span) for span in group]
        pairs = list(zip(group, begins, strict=True))
        num_blocks = max(self._end(span) - begin for span, begin in pairs)
        blocks: list[int] = []
        for span, begin in pairs:
            own = span.block_table[begin : min(begin + num_blocks, self._end(span))]
            blocks += own + own[:1] * (num_blocks - len(own))  # masked, but never another's
        mask = self._mask(group, begins, num_blocks * self.block_size)
        table = torch.tensor(blocks, device=self.device)
        return Piece(len(group), group[0].num_tokens, _tokens(group), table, mask)

    def _begin(self, span: Span) -> int:
        """Index in its block table of the first block that the span sees."""
        if self.window is None:
            return 0
        first_position = min(span.num_computed, span.kv_len - 1)
        return max(0, first_position - self.window + 1) // self.block_size

    def _end(self, span: Span) -> int:
        """Number of blocks that hold the span's context."""
        return -(-span.kv_len // self.block_size)

    def _mask(self, group: list[Span], begins: list[int], num_keys: int) -> torch.Tensor:
        """0 where a query sees a key, else -inf, [R, 1, G * N, C], or [R, 1, 1, C] for N = 1."""
        width = group[0].num_tokens
        facts = torch.tensor(
            [
                [span.num_computed, span.kv_len - 1, begin * self.block_size]
                for span, begin in zip(group, begins, strict=True)
            ],
            device=self.device,
        )
        computed, last, first_key = facts[:, :, None, None].unbind(1)
        offsets = torch.arange(width, device=self.device)[:, None]
        queries = torch.minimum(computed + offsets, last)
        keys = first_key + torch.arange(num_keys, device=self.device)
        is_hidden = keys > queries
        if self.window is not None:
            is_hidden |= keys <= queries - self.window
        mask = torch.zeros(is_hidden.shape, dtype=self.dtype, device=self.device)
        mask = mask.masked_fill_(is_hidden, float("-inf"))[:, None]
        return mask if width == 1 else mask.repeat(1, 1, self.num_groups, 1)


def _is_fresh(span: Span) -> bool:
    return span.num_tokens > 1 and not span.num_computed


def _tokens(group: list[Span]) -> slice:
    return slice(group[0].start, group[-1].start + group[-1].num_tokens)
