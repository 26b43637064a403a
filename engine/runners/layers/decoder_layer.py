"""One layer of a Llama-like model in a third of the operations: `DecoderLayer`.

Queries, keys and values come from one matrix product, all heads turn at once, and both additions
to the residual stream are part of a product. Attention itself is whatever the model was told to
use. `fuse` decides which layers may be replaced.

Shapes: T tokens, W values in the residual stream, H query heads, K key/value heads, D dimensions
a head.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import torch

from engine.runners.layers.gated_mlp import GatedMlp
from engine.runners.layers.layer import Layer
from engine.runners.layers.layer_structure import HEAD_NORMS, INPUTS, find_linears
from engine.runners.layers.maker import PartMaker, Turner
from engine.runners.layers.rms_norm import RmsNorm
from engine.runners.layers.rotation import Embeddings


class DecoderLayer(Layer):
    """Does what a layer of transformers does, if that has the usual structure.

    Args:
        layer, options: see `Layer`.
        mlp: in place of the layer's own.
        turner: shared by all layers.
    """

    def __init__(
        self,
        layer: Any,
        mlp: GatedMlp,
        options: Mapping[str, Any],
        maker: PartMaker,
        turner: Turner,
    ) -> None:
        super().__init__(layer, options)
        attention = layer.self_attn
        self.before_attention = _norm(layer.input_layernorm, maker)
        self.before_mlp = _norm(layer.post_attention_layernorm, maker)
        self.head_norm = self._norm_of_heads(attention, maker)
        self.inputs = maker.linear(*(getattr(attention, name) for name in INPUTS))
        self.output = maker.linear(attention.o_proj)
        self.mlp = mlp
        self._turner = turner

    @classmethod
    def of(
        cls, module: Any, options: Mapping[str, Any], maker: PartMaker, turner: Turner
    ) -> Self | None:
        """What a module computes if its parts mean what they are called; None without them."""
        linears = find_linears(module)
        if linears is None or not all(map(maker.can_take, linears)):
            return None
        mlp = GatedMlp.of(module.mlp, maker)
        if mlp is None:
            return None
        return cls(module, mlp, options, maker, turner)

    def forward(
        self,
        hidden_states: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        *,
        position_embeddings: Embeddings,
        **_: object,
    ) -> torch.Tensor:
        """The signature is transformers'.

        Args:
            hidden_states: [1, T, W].

        Returns:
            [1, T, W].
        """
        heads = self.inputs(self.before_attention(hidden_states))
        heads = heads.view(*heads.shape[:2], -1, self.head_dim)
        num_turning = self.num_heads + self.num_kv_heads
        turning = heads.narrow(2, 0, num_turning)
        value = heads.narrow(2, num_turning, self.num_kv_heads).transpose(1, 2)
        turned = self._turner.turn(turning, position_embeddings, self.head_norm).transpose(1, 2)
        query = turned.narrow(1, 0, self.num_heads)
        key = turned.narrow(1, self.num_heads, self.num_kv_heads)
        attended, _ = self.attend(self.attention, query, key, value, attention_mask, **self.options)
        hidden_states = self.output.add_to(hidden_states, attended.flatten(2))
        return self.mlp.add_to(hidden_states, self.before_mlp(hidden_states))

    def _norm_of_heads(self, attention: Any, maker: PartMaker) -> RmsNorm | None:
        """One norm for queries and keys, where they have one each over their head."""
        query_norm, key_norm = (
            RmsNorm.of(getattr(attention, name, None), maker.norm) for name in HEAD_NORMS
        )
        if query_norm is None or key_norm is None:
            return None
        query_weight = query_norm.weight.expand(self.num_heads, -1)
        key_weight = key_norm.weight.expand(self.num_kv_heads, -1)
        return maker.norm(torch.cat((query_weight, key_weight)), query_norm.epsilon)


def _norm(module: torch.nn.Module, maker: PartMaker) -> torch.nn.Module:
    return RmsNorm.of(module, maker.norm) or module
