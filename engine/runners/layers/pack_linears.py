"""`pack_linears`: exchange the linear layers that are left in a model."""

from __future__ import annotations

import torch

from engine.runners.layers.maker import ONE_DNN, PartMaker
from engine.runners.layers.packed_linear import PackedWeights
from engine.runners.loading.huge_pages import use_huge_pages


def pack_linears(model: torch.nn.Module, maker: PartMaker = ONE_DNN) -> None:
    """Replace the linear layers of a model on a CPU, where the maker can.

    Their weights, and those of layers that were packed before, move to huge pages.
    """
    for parent in model.modules():
        for name, child in parent.named_children():
            if maker.can_take(child):
                setattr(parent, name, maker.linear(child))
    use_huge_pages(part.memory for part in model.modules() if isinstance(part, PackedWeights))
