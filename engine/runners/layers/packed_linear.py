"""Linear layers whose weights are laid out for the CPU's matrix kernel once, when they are loaded.

The usual kernel rearranges the weights in every pass, which for the few tokens of a decode step
costs as much as the arithmetic. oneDNN, through the operators that torch's own compiler uses,
keeps them rearranged, and does a little more to each output while it is still in a register.

Shapes: T tokens, I values in and O values out of the layer.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass
from typing import TypeGuard

import torch

from engine.runners.layers.layer_structure import has_bias
from engine.runners.loading.huge_pages import Range

TYPICAL_TOKENS = 8  # in a pass; decides the layout, any number can be computed


@dataclass(frozen=True, slots=True)
class Activation:
    """A function of each output, by oneDNN's name for it."""

    name: str
    algorithm: str = ""


NO_ACTIVATION = Activation("none")


class PackedWeights(torch.nn.Module):
    """A layer whose weights lie in memory that it alone knows."""

    @property
    def memory(self) -> Range:
        """Where they lie."""
        raise NotImplementedError


class AddingLinear(PackedWeights):
    """Linear layers of one input, one behind the other, as part of a sum or on their own."""

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """The output for [..., T, I], [..., T, O]."""
        raise NotImplementedError

    def add_to(self, other: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """The output plus another tensor of its size."""
        raise NotImplementedError


class PackedLinear(AddingLinear):
    """One linear layer for inference, or several of the same input, one behind the other.

    Args:
        linears: their weights are copied, so that they can be dropped.
    """

    def __init__(self, *linears: torch.nn.Linear) -> None:
        super().__init__()
        weight = torch.cat([linear.weight.detach() for linear in linears])
        biases = [linear.bias.detach() for linear in linears if has_bias(linear)]
        assert len(biases) in (0, len(linears)), "all of them have a bias or none has"
        self.out_features = weight.shape[0]
        self.weight = weight.to("meta")  # for models that look at its dtype or shape
        self.packed = torch.ops.mkldnn._reorder_linear_weight(weight, TYPICAL_TOKENS)
        self.bias = torch.cat(biases) if biases else None

    @property
    def memory(self) -> Range:
        return torch.ops.mkldnn.data_ptr(self.packed), torch.ops.mkldnn._nbytes(self.packed)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.activate(hidden, NO_ACTIVATION)

    def activate(self, hidden: torch.Tensor, activation: Activation) -> torch.Tensor:
        """The activation of the layer's output, [..., T, O]."""
        if not hidden.numel():
            return hidden.new_empty((*hidden.shape[:-1], self.out_features))
        output: torch.Tensor = torch.ops.mkldnn._linear_pointwise(
            hidden, self.packed, self.bias, activation.name, [], activation.algorithm
        )
        return output

    def add_to(self, other: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        return self._combine(hidden, other, "add")

    def multiply_with(self, other: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """The layer's output times another tensor of its size, [..., T, O]."""
        return self._combine(hidden, other, "mul")

    def _combine(self, hidden: torch.Tensor, other: torch.Tensor, operation: str) -> torch.Tensor:
        if not hidden.numel():
            return torch.empty_like(other)
        output: torch.Tensor = torch.ops.mkldnn._linear_pointwise.binary(
            hidden, other, self.packed, self.bias, operation
        )
        return output


def can_pack(module: object) -> TypeGuard[torch.nn.Linear]:
    """Whether it is a plain linear layer, in a precision that this machine's oneDNN computes."""
    if not isinstance(module, torch.nn.Linear) or type(module) is not torch.nn.Linear:
        return False
    if not _has_onednn():
        return False
    dtype = module.weight.dtype
    is_bfloat16 = dtype is torch.bfloat16 and torch.ops.mkldnn._is_mkldnn_bf16_supported()
    return dtype is torch.float32 or is_bfloat16


def _has_onednn() -> bool:
    has_onednn: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return has_onednn and platform.machine() in ("x86_64", "AMD64")
