"""One layer of a Llama-like model in eight launches beside attention's: `DeviceLayer`.

For a CUDA device. The matrix products are the vendor's; what lies between them takes one
launch each where transformers' own modules take some thirty. `fuse` decides which layers may be
replaced.

Shapes: T tokens, W values in the residual stream, H query heads, K key/value heads, D dimensions
a head.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import torch
from torch.nn.functional import linear

from engine.runners.layers.device_parts import DeviceMlp, DeviceNorm
from engine.runners.layers.layer import Layer
from engine.runners.layers.layer_ops import LayerOps
from engine.runners.layers.layer_structure import HEAD_NORMS, INPUTS, find_linears, freeze, has_bias
from engine.runners.layers.rms_norm import RmsNorm
from engine.runners.layers.rotation import Embeddings


class DeviceLayer(Layer):
    """Does what a layer of transformers does, if that has the usual structure.

    Args:
        layer, options: see `Layer`.
        norms: before attention and before the feed-forward layer.
        mlp: in place of the layer's own.
        ops: what lies between the products.
    """

    def __init__(
        self,
        layer: Any,
        norms: tuple[DeviceNorm, DeviceNorm],
        mlp: DeviceMlp,
        options: Mapping[str, Any],
        ops: LayerOps,
    ) -> None:
        super().__init__(layer, options)
        self.ops = ops
        attention = layer.self_attn
        inputs = [getattr(attention, name) for name in INPUTS]
        self.before_attention, self.before_mlp = norms
        self.head_weights, self.head_epsilon = self._norm_of_heads(attention)
        weights = torch.cat([part.weight.detach() for part in inputs])
        self.inputs = freeze(weights)  # [(H + 2 K) * D, W]
        biases = [part.bias.detach() for part in inputs if has_bias(part)]
        self.input_bias = freeze(torch.cat(biases)) if biases else None
        self.output = attention.o_proj
        self.mlp = mlp

    @classmethod
    def of(cls, module: Any, options: Mapping[str, Any], ops: LayerOps) -> Self | None:
        """What a module computes if its parts mean what they are called; None without them."""
        if find_linears(module) is None:
            return None
        before_attention = DeviceNorm.of(module.input_layernorm, ops)
        before_mlp = DeviceNorm.of(module.post_attention_layernorm, ops)
        mlp = DeviceMlp.of(module.mlp, ops)
        if before_attention is None or before_mlp is None or mlp is None:
            return None
        return cls(module, (before_attention, before_mlp), mlp, options, ops)

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
        hidden = hidden_states[0]
        heads = linear(self.before_attention(hidden), self.inputs, self.input_bias)
        heads = heads.view(hidden.shape[0], -1, self.head_dim)
        num_turning = self.num_heads + self.num_kv_heads
        cos, sin = (embedding[0] for embedding in position_embeddings)
        turned = self.ops.turn(heads, cos, sin, num_turning, self.head_weights, self.head_epsilon)
        query, key = turned[:, : self.num_heads], turned[:, self.num_heads :]
        value = heads[:, num_turning:]
        query, key, value = (each.transpose(0, 1)[None] for each in (query, key, value))
        attended, _ = self.attend(self.attention, query, key, value, attention_mask, **self.options)
        added = self.output(attended[0].flatten(1))
        norm = self.before_mlp
        hidden, normed = self.ops.add_and_normalise(hidden, added, norm.weight, norm.epsilon)
        return self.mlp.add_to(hidden, normed)[None]

    def _norm_of_heads(self, attention: Any) -> tuple[torch.nn.Parameter | None, float]:
        """The weights of the norm over each head that turns, [H + K, D], and its epsilon."""
        query, key = (RmsNorm.of(getattr(attention, name, None)) for name in HEAD_NORMS)
        if query is None or key is None or query.weight.shape != key.weight.shape:
            return None, 0.0
        counts = (self.num_heads, query.weight), (self.num_kv_heads, key.weight)
        weights = torch.cat([weight.expand(count, -1) for count, weight in counts])
        return freeze(weights), query.epsilon
