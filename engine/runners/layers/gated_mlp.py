"""The gated feed-forward layer (Shazeer 2020) as three matrix products and nothing beside them."""

from __future__ import annotations

from typing import Self

import torch

from engine.runners.layers.packed_linear import Activation, PackedLinear, can_pack

ACTIVATIONS = {
    "SiLU": Activation("swish"),
    "SiLUActivation": Activation("swish"),
    "GELUActivation": Activation("gelu", "none"),
    "GELUTanh": Activation("gelu", "tanh"),
}
PROJECTIONS = ("gate_proj", "up_proj", "down_proj")


class GatedMlp(torch.nn.Module):
    """`down(act(gate(x)) * up(x))`, the activation and both factors computed in the products."""

    def __init__(
        self,
        gate: torch.nn.Linear,
        up: torch.nn.Linear,
        down: torch.nn.Linear,
        activation: Activation,
    ) -> None:
        super().__init__()
        self.gate, self.up, self.down = PackedLinear(gate), PackedLinear(up), PackedLinear(down)
        self.activation = activation

    @classmethod
    def of(cls, module: torch.nn.Module) -> Self | None:
        """What a module computes if its parts mean what they are called; None without them."""
        activation = ACTIVATIONS.get(type(getattr(module, "act_fn", None)).__name__)
        gate, up, down = (getattr(module, name, None) for name in PROJECTIONS)
        if activation is None or not (can_pack(gate) and can_pack(up) and can_pack(down)):
            return None
        return cls(gate, up, down, activation)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        output: torch.Tensor = self.down(self._inner(hidden))
        return output

    def add_to(self, other: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """The output for `hidden` plus another tensor of its size."""
        return self.down.add_to(other, self._inner(hidden))

    def _inner(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.up.multiply_with(self.gate.activate(hidden, self.activation), hidden)
