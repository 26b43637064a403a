"""The gated feed-forward layer (Shazeer 2020) as products of matrices and nothing beside them."""

from __future__ import annotations

from typing import Self

import torch

from engine.runners.layers.maker import ONE_DNN, PartMaker
from engine.runners.layers.packed_linear import Activation, AddingLinear

ACTIVATIONS = {
    "SiLU": Activation("swish"),
    "SiLUActivation": Activation("swish"),
    "GELUActivation": Activation("gelu", "none"),
    "GELUTanh": Activation("gelu", "tanh"),
}
PROJECTIONS = ("gate_proj", "up_proj", "down_proj")


class GatedMlp(torch.nn.Module):
    """`down(act(gate(x)) * up(x))`.

    Args:
        inner: all but the last product.
    """

    def __init__(self, inner: torch.nn.Module, down: AddingLinear) -> None:
        super().__init__()
        self.inner, self.down = inner, down

    @classmethod
    def of(cls, module: torch.nn.Module, maker: PartMaker = ONE_DNN) -> Self | None:
        """What a module computes if its parts mean what they are called; None without them."""
        activation = ACTIVATIONS.get(type(getattr(module, "act_fn", None)).__name__)
        gate, up, down = (getattr(module, name, None) for name in PROJECTIONS)
        if activation is None or not (
            maker.can_take(gate) and maker.can_take(up) and maker.can_take(down)
        ):
            return None
        return cls(maker.gate(gate, up, activation), maker.linear(down))

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        output: torch.Tensor = self.down(self.inner(hidden))
        return output

    def add_to(self, other: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """The output for `hidden` plus another tensor of its size."""
        return self.down.add_to(other, self.inner(hidden))
