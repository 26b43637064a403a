"""What layers are made of on a CPU: `PartMaker`, and `OneDnnMaker` with torch's own operators.

Shapes: T tokens, N heads that turn, D dimensions a head.
"""

from __future__ import annotations

from typing import Protocol, TypeGuard

import torch

from engine.runners.layers.packed_linear import Activation, AddingLinear, PackedLinear, can_pack
from engine.runners.layers.rms_norm import RmsNorm
from engine.runners.layers.rotation import Embeddings, Rotation


class Turner(Protocol):
    """Rotates heads by their positions; one for all layers of a model."""

    def turn(
        self, heads: torch.Tensor, embeddings: Embeddings, norm: RmsNorm | None
    ) -> torch.Tensor:
        """Turn heads, [1, T, N, D], which may change in place; each normed before, if need be."""
        ...


class PartMaker(Protocol):
    """Makes parts of layers that compute what the given modules do."""

    def can_take(self, module: object) -> TypeGuard[torch.nn.Linear]:
        """Whether a module is a linear layer that can be made anew."""
        ...

    def linear(self, *linears: torch.nn.Linear) -> AddingLinear:
        """Layers of one input, one behind the other; the weights are copied."""
        ...

    def gate(
        self, gate: torch.nn.Linear, up: torch.nn.Linear, activation: Activation
    ) -> torch.nn.Module:
        """Two layers of one input, multiplied, the first through an activation; copied as well."""
        ...

    def norm(self, weight: torch.Tensor, epsilon: float) -> RmsNorm: ...

    def turner(self) -> Turner: ...


class OneDnnMaker:
    """Products by oneDNN, and between them what torch has."""

    def can_take(self, module: object) -> TypeGuard[torch.nn.Linear]:
        return can_pack(module)

    def linear(self, *linears: torch.nn.Linear) -> AddingLinear:
        return PackedLinear(*linears)

    def gate(
        self, gate: torch.nn.Linear, up: torch.nn.Linear, activation: Activation
    ) -> torch.nn.Module:
        return PackedGate(gate, up, activation)

    def norm(self, weight: torch.Tensor, epsilon: float) -> RmsNorm:
        return RmsNorm(weight, epsilon)

    def turner(self) -> Turner:
        return Rotation()


class PackedGate(torch.nn.Module):
    """The activation and the product with it computed in the products of matrices."""

    def __init__(self, gate: torch.nn.Linear, up: torch.nn.Linear, activation: Activation) -> None:
        super().__init__()
        self.gate, self.up = PackedLinear(gate), PackedLinear(up)
        self.activation = activation

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.up.multiply_with(self.gate.activate(hidden, self.activation), hidden)


ONE_DNN = OneDnnMaker()
