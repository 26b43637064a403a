"""The seam between `PagedAttention` and the ways to attend over its cache.

Shapes: T tokens in the pass, H query heads, K key/value heads, D dimensions a head.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import torch

from engine.runners.attention.attend import AttentionOptions
from engine.runners.attention.attention_batch import DecodeBatch
from engine.runners.inputs.pack import Span
from engine.runners.kv_cache import LayerCache


class AttentionBackend(Protocol):
    """A way to attend over the paged cache.

    Attributes:
        name: for the screen.
    """

    name: str

    def begin(self, spans: list[Span]) -> None:
        """Prepare what every layer of the coming pass shares."""
        ...

    def attend(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        cache: LayerCache,
        options: AttentionOptions,
    ) -> torch.Tensor:
        """Attend for one layer whose new keys and values are in the cache already.

        Args:
            query: [T, H, D].
            key, value: of this pass, [T, K, D].

        Returns:
            [T, H, D].
        """
        ...


@runtime_checkable
class WritingBackend(AttentionBackend, Protocol):
    """One that stores new keys and values in fewer launches than the cache itself does."""

    def write(
        self, cache: LayerCache, slots: torch.Tensor, key: torch.Tensor, value: torch.Tensor
    ) -> None:
        """As `LayerCache.write`."""
        ...


@runtime_checkable
class CapturableBackend(AttentionBackend, Protocol):
    """One whose decoding passes a CUDA graph can hold.

    After `begin_decode`, `attend` reads the tensors that it was handed, its own arguments and
    nothing else; it never waits for the device, and its launches depend on shapes alone. So one
    capture serves whatever the tensors hold at each replay.
    """

    def begin_decode(self, decode: DecodeBatch) -> None:
        """Prepare a pass of one token a row in place of `begin`; token i is row i's."""
        ...
