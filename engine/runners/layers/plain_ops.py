"""What lies between a layer's products in torch's own operators, for `torch.compile` to fuse.

Does what `engine.runners.triton.fused_ops` does; shapes as there.
"""

from __future__ import annotations

import torch
from torch.nn.functional import gelu, silu


def normalise(hidden: torch.Tensor, weight: torch.Tensor, epsilon: float) -> torch.Tensor:
    """The root mean square norm over the last dimension, [..., W]."""
    exact = hidden.float()
    scale = torch.rsqrt(exact.square().mean(-1, keepdim=True) + epsilon)
    return (exact * scale).to(hidden.dtype) * weight


def add_and_normalise(
    hidden: torch.Tensor, addend: torch.Tensor, weight: torch.Tensor, epsilon: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """The sum of two tensors, [T, W], and its norm."""
    summed = hidden + addend
    return summed, normalise(summed, weight, epsilon)


def turn(
    heads: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    num_heads: int,
    weights: torch.Tensor | None = None,
    epsilon: float = 0.0,
) -> torch.Tensor:
    """Turn the first heads of each token, [T, H + K, D]."""
    turning = heads[:, :num_heads]
    if weights is not None:
        turning = normalise(turning, weights, epsilon)
    num_angles = cos.shape[1]
    first, second = turning[..., :num_angles].chunk(2, -1)
    rotated = torch.cat((-second, first), -1)
    turned = turning[..., :num_angles] * cos[:, None] + rotated * sin[:, None]
    return torch.cat((turned, turning[..., num_angles:]), -1)


def gate(both: torch.Tensor, activation: str) -> torch.Tensor:
    """`act(a) * b` of [T, 2 * I], [T, I]."""
    gating, value = both.chunk(2, -1)
    if activation == "swish":
        return silu(gating) * value
    return gelu(gating, approximate=activation.removeprefix("gelu ")) * value
