"""`Layer`: what all parts have in common that stand for a whole layer of a Llama-like model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from engine.runners.layers.layer_structure import HEAD_NORMS, INPUTS


class Layer(torch.nn.Module):
    """Attends as the layer that it replaces was told to.

    Args:
        layer: its attention stays in use, as what attention functions ask for their settings.
        options: what the layer hands to attention beside tensors.
    """

    def __init__(self, layer: Any, options: Mapping[str, Any]) -> None:
        super().__init__()
        attention = layer.self_attn
        self.attention_type = getattr(layer, "attention_type", None)  # picks the model's mask
        self.attention = attention
        self.options = options
        self.head_dim: int = attention.head_dim
        self.num_kv_heads = attention.k_proj.out_features // self.head_dim
        self.num_heads = attention.q_proj.out_features // self.head_dim

    def release(self) -> None:
        """Let go of the weights that have been copied."""
        for name in (*INPUTS, *HEAD_NORMS, "o_proj"):
            self.attention._modules.pop(name, None)

    @property
    def attend(self) -> Callable[..., tuple[torch.Tensor, Any]]:
        """What the model was told to attend with; to be called where `forward` is compiled."""
        function: Callable[..., tuple[torch.Tensor, Any]]
        function = ALL_ATTENTION_FUNCTIONS[self.attention.config._attn_implementation]
        return function
