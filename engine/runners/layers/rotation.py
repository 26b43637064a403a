"""Rotary position embedding (Su et al. 2021) of all heads at once: `Rotation`.

Shapes: T tokens, N heads that turn, D dimensions a head, of which the first E turn.
"""

from __future__ import annotations

import torch

from engine.runners.layers.rms_norm import RmsNorm

Embeddings = tuple[torch.Tensor, torch.Tensor]


class Rotation:
    """Turns heads; what the layers of a pass share is laid out once a pass."""

    def __init__(self) -> None:
        self._embeddings: Embeddings | None = None
        self._cos = self._sin = torch.empty(0)

    def turn(
        self, heads: torch.Tensor, embeddings: Embeddings, norm: RmsNorm | None = None
    ) -> torch.Tensor:
        """Turn each pair of dimensions by its angle.

        Args:
            heads: [1, T, N, D].
            embeddings: cosines and sines, [1, T, E], the second half like the first.
            norm: of each head, before it turns.

        Returns:
            [1, T, N, D].
        """
        if norm is not None:
            heads = norm(heads)
        if embeddings is not self._embeddings:
            self._prepare(embeddings)
        num_turning = self._cos.shape[-1]
        if num_turning < heads.shape[-1]:
            turning, rest = heads[..., :num_turning], heads[..., num_turning:]
            return torch.cat((self._turn(turning), rest), dim=-1)
        return self._turn(heads)

    def _prepare(self, embeddings: Embeddings) -> None:
        self._embeddings = embeddings
        cos, sin = (tensor.unsqueeze(2) for tensor in embeddings)
        self._cos, self._sin = cos, sin[..., : sin.shape[-1] // 2]

    def _turn(self, heads: torch.Tensor) -> torch.Tensor:
        turned = heads * self._cos
        half = heads.shape[-1] // 2
        first, second = heads.narrow(-1, 0, half), heads.narrow(-1, half, half)
        turned.narrow(-1, 0, half).addcmul_(second, self._sin, value=-1)
        turned.narrow(-1, half, half).addcmul_(first, self._sin)
        return turned
