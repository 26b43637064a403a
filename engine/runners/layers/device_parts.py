"""A norm and a gated feed-forward layer for a CUDA device: `DeviceNorm`, `DeviceMlp`.

In a decode step each launch costs as much as a small matrix product, so that a norm of eight
operations takes one, and a gate none beside its products but one.

Shapes: T tokens, W values of a token, I values of the inner layer.
"""

from __future__ import annotations

from typing import Self

import torch
from torch.nn.functional import linear

from engine.runners.layers.gated_mlp import ACTIVATIONS, PROJECTIONS
from engine.runners.layers.layer_ops import LayerOps
from engine.runners.layers.layer_structure import freeze, has_bias
from engine.runners.layers.rms_norm import RmsNorm


class DeviceNorm(torch.nn.Module):
    """Divides by the root mean square of the last dimension, then multiplies by a weight."""

    def __init__(self, weight: torch.Tensor, epsilon: float, ops: LayerOps) -> None:
        super().__init__()
        self.ops = ops
        self.weight = freeze(weight)
        self.epsilon = epsilon

    @classmethod
    def of(cls, module: torch.nn.Module | None, ops: LayerOps) -> Self | None:
        """What a module computes if it is what its name says; None if it has no such name."""
        norm = RmsNorm.of(module)
        if norm is None or norm.weight.dim() != 1:
            return None
        return cls(norm.weight, norm.epsilon, ops)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.ops.normalise(hidden, self.weight, self.epsilon)


class DeviceMlp(torch.nn.Module):
    """`down(act(gate(x)) * up(x))`, with one product for gate and up."""

    def __init__(
        self, inner: torch.Tensor, down: torch.Tensor, activation: str, ops: LayerOps
    ) -> None:
        super().__init__()
        self.ops = ops
        self.inner = freeze(inner)  # [2 * I, W]
        self.down = freeze(down)  # [W, I]
        self.activation = activation

    @classmethod
    def of(cls, module: torch.nn.Module, ops: LayerOps) -> Self | None:
        """What a module computes if its parts mean what they are called; None without them.

        None for one with biases, too, which no model has that is fast because of this.
        """
        activation = ACTIVATIONS.get(type(getattr(module, "act_fn", None)).__name__)
        found = [getattr(module, name, None) for name in PROJECTIONS]
        linears = [part for part in found if type(part) is torch.nn.Linear and not has_bias(part)]
        if activation is None or len(linears) != len(PROJECTIONS):
            return None
        weights = [part.weight.detach() for part in linears]
        name = f"{activation.name} {activation.algorithm}".strip()
        return cls(torch.cat(weights[:2]), weights[2], name, ops)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return linear(self._gated(hidden.flatten(0, -2)), self.down).view(hidden.shape)

    def add_to(self, other: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """Add the output for `hidden`, [T, W], to another tensor of its size, in place."""
        return other.addmm_(self._gated(hidden), self.down.t())

    def _gated(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.ops.gate(linear(hidden, self.inner), self.activation)
