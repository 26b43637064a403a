"""`LayerOps`: what lies between the matrix products of a layer, by kernels of one kind or another.

Shapes: T tokens, W values a token, H query heads and K key heads of D dimensions, I values of the
inner layer, E of the dimensions turn.
"""

from __future__ import annotations

from typing import Protocol

import torch


class LayerOps(Protocol):
    """`plain_ops` or `fused_ops`."""

    def normalise(self, hidden: torch.Tensor, weight: torch.Tensor, epsilon: float) -> torch.Tensor:
        """The root mean square norm over the last dimension, [..., W]."""
        ...

    def add_and_normalise(
        self, hidden: torch.Tensor, addend: torch.Tensor, weight: torch.Tensor, epsilon: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The sum of two tensors, [T, W], and its norm."""
        ...

    def turn(
        self,
        heads: torch.Tensor,
        cos: torch.Tensor,
        sin: torch.Tensor,
        num_heads: int,
        weights: torch.Tensor | None = None,
        epsilon: float = 0.0,
    ) -> torch.Tensor:
        """Turn the first heads of each token.

        Args:
            heads: [T, at least H + K, D].
            cos, sin: [T, E], the second half like the first.
            num_heads: H + K.
            weights: of a norm over each head before, [H + K, D]; None for no norm.

        Returns:
            [T, H + K, D].
        """
        ...

    def gate(self, both: torch.Tensor, activation: str) -> torch.Tensor:
        """`act(a) * b` of [T, 2 * I], [T, I].

        Args:
            activation: `swish`, `gelu none` or `gelu tanh`, as oneDNN calls them.
        """
        ...
