"""Top-k, top-p and min-p as one number a row: the lowest probability that may still be drawn.

Top-k sets it at the k-th largest, top-p at the smallest of the nucleus (Holtzman et al. 2020),
min-p at a share of the largest (Nguyen et al. 2024); the highest of the three counts. As in vLLM,
the nucleus is one of the top k.

Shapes: R rows that sample, V tokens in the vocabulary, W of them in descending order.
"""

from __future__ import annotations

import torch

from engine.runners.inputs.fields import Fields
from engine.runners.inputs.slots import MIN_P, TOP_K, TOP_P

WIDTHS = (256, 4096)  # a nucleus rarely has more tokens, and sorting a vocabulary takes far longer


def floors(
    probabilities: torch.Tensor, fields: Fields[torch.Tensor], widths: tuple[int, ...] = ()
) -> torch.Tensor:
    """The lowest probability of each row that its filters let through, [R, 1].

    Args:
        probabilities: [R, V].
        widths: how many of the likeliest tokens to sort at first, and then, each no less than any
            row's top-k. Whether they are enough is looked up, for which the host waits; with none,
            all are sorted, and it does not.
    """
    vocab_size = probabilities.shape[1]
    top_p, min_p, top_k = (fields.parameters[:, at, None] for at in (TOP_P, MIN_P, TOP_K))
    top_k = top_k.masked_fill(top_k == 0, vocab_size)
    has_nucleus = top_p < 1
    ordered, reached, is_cut = _order(probabilities, top_k, top_p, widths)
    mass = reached[:, -1:].masked_fill(top_k >= vocab_size, 1.0)  # of the top k together
    is_cut |= has_nucleus & (reached - ordered >= top_p * mass)
    floor = ordered.masked_fill(is_cut, float("inf")).amin(dim=-1, keepdim=True)
    floor = floor.masked_fill(~has_nucleus & (top_k >= vocab_size), 0.0)
    return torch.maximum(floor, min_p * ordered[:, :1])


def _order(
    probabilities: torch.Tensor,
    top_k: torch.Tensor,
    top_p: torch.Tensor,
    widths: tuple[int, ...],
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Sort as many of the likeliest tokens as the filters of every row have to see.

    Returns:
        Their probabilities, what they and all before them reach together within the top k, and
        which are beyond the top k, each [R, W].
    """
    vocab_size = probabilities.shape[1]
    for width in (*(width for width in widths if width < vocab_size), vocab_size):
        if width < vocab_size:
            ordered = probabilities.topk(width, dim=-1).values
        else:
            ordered = probabilities.sort(dim=-1, descending=True).values
        is_cut = torch.arange(width, device=probabilities.device) >= top_k
        reached = ordered.masked_fill(is_cut, 0.0).cumsum(dim=-1)
        is_open = (top_p < 1) & (top_k > width) & (reached[:, -1:] < top_p)
        if width == vocab_size or not bool(is_open.any()):
            break
    return ordered, reached, is_cut
