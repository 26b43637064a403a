"""Linear layers whose weights are laid out for the CPU's matrix kernel once, when they are loaded.

The usual kernel rearranges the weights in every pass, which for the few tokens of a decode step
costs as much as the arithmetic. oneDNN, through the operators that torch's own compiler uses,
keeps them rearranged.
"""

from __future__ import annotations

import platform

import torch

TYPICAL_TOKENS = 8  # in a pass; decides the layout, any number can be computed


class PackedLinear(torch.nn.Module):
    """A linear layer for inference.

    Args:
        linear: its weights are copied, so that it can be dropped.
    """

    def __init__(self, linear: torch.nn.Linear) -> None:
        super().__init__()
        weight = linear.weight.detach()
        bias: torch.Tensor | None = linear.bias
        self.out_features = linear.out_features
        self.weight = weight.to("meta")  # for models that look at its dtype or shape
        self.packed = torch.ops.mkldnn._reorder_linear_weight(weight, TYPICAL_TOKENS)
        self.bias = None if bias is None else bias.detach()

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        if not hidden.numel():
            return hidden.new_empty((*hidden.shape[:-1], self.out_features))
        output: torch.Tensor = torch.ops.mkldnn._linear_pointwise(
            hidden, self.packed, self.bias, "none", [], ""
        )
        return output


def pack_linears(model: torch.nn.Module) -> None:
    """Replace the linear layers of a model on a CPU, where the operators exist."""
    has_onednn = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    if platform.machine() not in ("x86_64", "AMD64") or not has_onednn:
        return
    for parent in model.modules():
        for name, child in parent.named_children():
            if type(child) is torch.nn.Linear and child.weight.dtype is torch.float32:
                setattr(parent, name, PackedLinear(child))
