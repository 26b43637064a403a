"""`LayerOps` by the kernels of `fused_kernels`, each in one launch; shapes as there."""

from __future__ import annotations

import torch

from engine.runners.triton.fused_kernels import gate_kernel, norm_kernel, turn_kernel
from engine.runners.triton.launching import launching
from engine.runners.triton.tiles import next_power_of_2

GATE_BLOCK = 1024
VALUES_A_WARP = 512
MOST_WARPS = 16


def normalise(hidden: torch.Tensor, weight: torch.Tensor, epsilon: float) -> torch.Tensor:
    """The root mean square norm over the last dimension, [..., W]."""
    return _norm(hidden, None, weight, epsilon)[1]


def add_and_normalise(
    hidden: torch.Tensor, addend: torch.Tensor, weight: torch.Tensor, epsilon: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """The sum of two tensors, [T, W], and its norm."""
    return _norm(hidden, addend, weight, epsilon)


def turn(
    heads: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    num_heads: int,
    weights: torch.Tensor | None = None,
    epsilon: float = 0.0,
) -> torch.Tensor:
    """Turn the first heads of each token, [T, H + K, D]."""
    num_tokens, _, head_dim = heads.shape
    output = heads.new_empty(num_tokens, num_heads, head_dim)
    pad = next_power_of_2(head_dim)
    with launching(heads):
        turn_kernel[(num_tokens, num_heads)](
            heads,
            cos.contiguous(),
            sin.contiguous(),
            weights,
            output,
            heads.stride(0),
            epsilon,
            NUM_HEADS=num_heads,
            HEAD_DIM=head_dim,
            NUM_ANGLES=cos.shape[1],
            PAD=pad,
            HAS_NORM=weights is not None,
            num_warps=1,
        )
    return output


def gate(both: torch.Tensor, activation: str) -> torch.Tensor:
    """`act(a) * b` of [T, 2 * I], [T, I]."""
    num_tokens, width = both.shape[0], both.shape[1] // 2
    output = both.new_empty(num_tokens, width)
    with launching(both):
        gate_kernel[(num_tokens, -(-width // GATE_BLOCK))](
            both, output, WIDTH=width, BLOCK=GATE_BLOCK, ACTIVATION=activation
        )
    return output


def _norm(
    hidden: torch.Tensor, addend: torch.Tensor | None, weight: torch.Tensor, epsilon: float
) -> tuple[torch.Tensor, torch.Tensor]:
    hidden = hidden.contiguous()
    width = hidden.shape[-1]
    pad = next_power_of_2(width)
    output = torch.empty_like(hidden)
    summed = output if addend is None else torch.empty_like(hidden)
    with launching(hidden):
        norm_kernel[(hidden.numel() // width,)](
            hidden,
            addend if addend is None else addend.contiguous(),
            weight,
            summed,
            output,
            epsilon,
            WIDTH=width,
            PAD=pad,
            HAS_ADDEND=addend is not None,
            num_warps=min(MOST_WARPS, max(1, pad // VALUES_A_WARP)),
        )
    return summed, output
