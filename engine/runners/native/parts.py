"""Parts of layers that compute by our own kernels: `NativeMaker` makes them.

Shapes: T tokens, I values in and O values out of a layer, N heads that turn, D dimensions a head,
of which the first E turn.
"""

from __future__ import annotations

from math import prod
from typing import TypeGuard

import torch

from engine.runners.layers.layer_structure import has_bias
from engine.runners.layers.maker import Turner
from engine.runners.layers.packed_linear import (
    NO_ACTIVATION,
    Activation,
    AddingLinear,
    PackedWeights,
)
from engine.runners.layers.rms_norm import RmsNorm
from engine.runners.layers.rotation import Embeddings, Rotation
from engine.runners.loading.huge_pages import Range
from engine.runners.native.kernels import Kernels, LinearArguments, NormArguments, TurnArguments
from engine.runners.native.layout import interleave, lay_out

ACTIVATIONS = {  # as linear.cpp numbers them
    NO_ACTIVATION: 0,
    Activation("swish"): 1,
    Activation("gelu", "none"): 2,
    Activation("gelu", "tanh"): 3,
}


class NativeMaker:
    """Makes the parts of a model in the kernels' precision."""

    def __init__(self, kernels: Kernels) -> None:
        self._kernels = kernels

    def can_take(self, module: object) -> TypeGuard[torch.nn.Linear]:
        if not isinstance(module, torch.nn.Linear) or type(module) is not torch.nn.Linear:
            return False
        if module.weight.dtype is not self._kernels.dtype:
            return False
        return module.in_features % 2 == 0 and module.weight.device.type == "cpu"

    def linear(self, *linears: torch.nn.Linear) -> AddingLinear:
        return NativeLinear(self._kernels, *linears)

    def gate(
        self, gate: torch.nn.Linear, up: torch.nn.Linear, activation: Activation
    ) -> torch.nn.Module:
        return NativeGate(self._kernels, gate, up, activation)

    def norm(self, weight: torch.Tensor, epsilon: float) -> RmsNorm:
        if weight.dtype is self._kernels.dtype:
            return NativeNorm(self._kernels, weight.contiguous(), epsilon)
        return RmsNorm(weight, epsilon)

    def turner(self) -> Turner:
        return NativeRotation(self._kernels)


class NativeLinear(AddingLinear):
    """One linear layer for inference, or several of the same input, one behind the other.

    Args:
        linears: their weights are copied, so that they can be dropped.
    """

    def __init__(self, kernels: Kernels, *linears: torch.nn.Linear) -> None:
        super().__init__()
        weight = torch.cat([linear.weight.detach() for linear in linears])
        biases = [linear.bias.detach() for linear in linears if has_bias(linear)]
        assert len(biases) in (0, len(linears)), "all of them have a bias or none has"
        self.weight = weight.to("meta")  # for models that look at its dtype or shape
        self.bias = torch.cat(biases) if biases else None
        self.out_features = weight.shape[0]
        self._product = Product(kernels, lay_out(weight), self.bias, weight.shape)

    @property
    def memory(self) -> Range:
        return self._product.memory

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        output = hidden.new_empty((*hidden.shape[:-1], self.out_features))
        return self._product.run(hidden, output)

    def add_to(self, other: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        other = other.contiguous()
        return self._product.run(hidden, torch.empty_like(other), other)


class NativeGate(PackedWeights):
    """`act(gate(x)) * up(x)` in one product, whose outputs lie sixteen by sixteen."""

    def __init__(
        self,
        kernels: Kernels,
        gate: torch.nn.Linear,
        up: torch.nn.Linear,
        activation: Activation,
    ) -> None:
        super().__init__()
        weight = interleave(gate.weight.detach(), up.weight.detach())
        bias = None
        if has_bias(gate) or has_bias(up):
            zeros = gate.weight.new_zeros(gate.out_features)
            both = (each.bias.detach() if has_bias(each) else zeros for each in (gate, up))
            bias = interleave(*both)
        self.out_features = gate.out_features
        size = torch.Size((2 * gate.out_features, gate.in_features))
        self._product = Product(kernels, lay_out(weight), bias, size, activation)

    @property
    def memory(self) -> Range:
        return self._product.memory

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        output = hidden.new_empty((*hidden.shape[:-1], self.out_features))
        return self._product.run(hidden, output)


class Product:
    """Weights as linear.cpp wants them, and the call that multiplies with them.

    Args:
        weights: laid out.
        size: [O, I].
    """

    def __init__(
        self,
        kernels: Kernels,
        weights: torch.Tensor,
        bias: torch.Tensor | None,
        size: torch.Size,
        activation: Activation = NO_ACTIVATION,
    ) -> None:
        self._kernel = kernels.linear
        self._weights, self._bias = weights, bias
        self._num_inputs = size[1]
        self._arguments = LinearArguments(
            weights=weights.data_ptr(),
            bias=None if bias is None else bias.data_ptr(),
            num_inputs=size[1],
            num_outputs=size[0],
            activation=ACTIVATIONS[activation],
            num_threads=kernels.num_threads,
        )

    @property
    def memory(self) -> Range:
        """Where the weights lie."""
        return self._weights.data_ptr(), self._weights.nbytes

    def run(
        self, hidden: torch.Tensor, output: torch.Tensor, other: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Fill the output and return it.

        Args:
            hidden: [..., T, I].
            other: added, like the output.

        Raises:
            RuntimeError: it is none for these weights, as torch has it: a kernel would read on.
        """
        if hidden.dtype is not self._weights.dtype or hidden.shape[-1] != self._num_inputs:
            wanted = f"{self._num_inputs} inputs in {self._weights.dtype}"
            raise RuntimeError(f"a layer of {wanted} got {hidden.shape[-1]} in {hidden.dtype}")
        hidden = hidden.contiguous()
        arguments = self._arguments
        arguments.hidden, arguments.output = hidden.data_ptr(), output.data_ptr()
        arguments.other = None if other is None else other.data_ptr()
        arguments.num_tokens = hidden.numel() // self._num_inputs
        self._kernel(arguments)
        return output


class NativeNorm(RmsNorm):
    """`RmsNorm` in one pass over what is normalised."""

    def __init__(self, kernels: Kernels, weight: torch.Tensor, epsilon: float) -> None:
        super().__init__(weight, epsilon)
        self._kernel = kernels.norm
        self._arguments = NormArguments(
            weight=weight.data_ptr(), width=weight.shape[-1], epsilon=epsilon
        )

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        if self.weight.dim() > 1 or hidden.dtype is not self.weight.dtype:
            return super().forward(hidden)
        hidden = hidden.contiguous()
        output = torch.empty_like(hidden)
        arguments = self._arguments
        arguments.hidden, arguments.output = hidden.data_ptr(), output.data_ptr()
        arguments.num_rows = hidden.numel() // hidden.shape[-1]
        self._kernel(arguments)
        return output


class NativeRotation:
    """Turns heads where they lie, and norms them before where that is wanted."""

    def __init__(self, kernels: Kernels) -> None:
        self._kernels = kernels
        self._fallback = Rotation()
        self._embeddings: Embeddings | None = None
        self._kept: Embeddings | None = None
        self._arguments = TurnArguments()

    def turn(
        self, heads: torch.Tensor, embeddings: Embeddings, norm: RmsNorm | None
    ) -> torch.Tensor:
        """Turn heads, [1, T, N, D], one behind the other; embeddings are [1, T, E]."""
        if embeddings is not self._embeddings:
            self._prepare(embeddings)
        if not self._can_turn(heads, norm):
            return self._fallback.turn(heads, embeddings, norm)
        arguments = self._arguments
        arguments.heads = heads.data_ptr()
        arguments.weights = None if norm is None else norm.weight.data_ptr()
        arguments.epsilon = 0.0 if norm is None else norm.epsilon
        arguments.num_tokens, arguments.num_heads, arguments.dims = heads.shape[1:]
        arguments.token_stride = heads.stride(1)
        self._kernels.turn(arguments)
        return heads

    def _prepare(self, embeddings: Embeddings) -> None:
        """Point to the cosines and sines, which all layers of a pass share."""
        self._embeddings = embeddings
        cosines, sines = self._kept = embeddings[0].contiguous(), embeddings[1].contiguous()
        self._arguments.cosines, self._arguments.sines = cosines.data_ptr(), sines.data_ptr()
        self._arguments.num_turning = cosines.shape[-1]

    def _can_turn(self, heads: torch.Tensor, norm: RmsNorm | None) -> bool:
        assert self._kept, "prepared for each pass"
        dtypes = {heads.dtype, self._kept[0].dtype, self._kernels.dtype}
        if norm is not None:
            dtypes.add(norm.weight.dtype)
        lies_close = heads.stride()[2:] == (heads.shape[3], 1)
        num_embedded = prod(self._kept[0].shape[:-1])
        return len(dtypes) == 1 and lies_close and num_embedded == heads.shape[1]
