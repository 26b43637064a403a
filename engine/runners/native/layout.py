"""How weights lie in memory for linear.cpp: `lay_out`.

Shapes: O outputs in P panels of 32, of I inputs each.
"""

from __future__ import annotations

import torch

LANES = 16
PANEL = 2 * LANES


def lay_out(weight: torch.Tensor) -> torch.Tensor:
    """Weights by panel and input, those of bfloat16 with two inputs side by side.

    Args:
        weight: [O, I]; I is even in bfloat16.

    Returns:
        [P, I, 32], or [P, I / 2, 32, 2], with zeros behind the last output.
    """
    num_outputs, num_inputs = weight.shape
    num_missing = -num_outputs % PANEL
    if num_missing:
        weight = torch.cat((weight, weight.new_zeros(num_missing, num_inputs)))
    panels = weight.view(-1, PANEL, num_inputs)
    if weight.dtype is torch.bfloat16:
        panels = panels.view(-1, PANEL, num_inputs // 2, 2)
    return panels.transpose(1, 2).contiguous()


def interleave(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Sixteen outputs of one, the same sixteen of the other, and so on, [2 * O, ...].

    Zeros fill up the last sixteen.
    """
    missing = (-first.shape[0] % LANES, *first.shape[1:])
    halves = [
        torch.cat((each, each.new_zeros(missing))).view(-1, LANES, *each.shape[1:])
        for each in (first, second)
    ]
    return torch.stack(halves, dim=1).flatten(0, 2)
