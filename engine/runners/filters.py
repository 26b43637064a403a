"""Top-k, top-p and min-p as one number a row: the lowest probability that may still be drawn.

Top-k sets it at the k-th largest, top-p at the smallest of the nucleus (Holtzman et al. 2020),
min-p at a share of the largest (Nguyen et al. 2024); the highest of the three counts. As in vLLM,
the nucleus is one of the top k.

Shapes: R rows that sample, V tokens in the vocabulary, W of them in descending order.
"""

from __future__ import annotations

import torch

from engine.request import SamplingParams

WIDTHS = (256, 4096)  # a nucleus rarely has more tokens, and sorting a vocabulary takes far longer


def floors(probabilities: torch.Tensor, params: list[SamplingParams]) -> torch.Tensor:
    """The lowest probability of each row that its filters let through, [R, 1].

    Args:
        probabilities: [R, V].
    """
    vocab_size = probabilities.shape[1]
    knobs = [(p.top_k or vocab_size, p.top_p, p.min_p) for p in params]
    top_k, top_p, min_p = torch.tensor(knobs, device=probabilities.device).T[:, :, None]
    has_nucleus = top_p < 1
    ordered, reached, is_cut = _order(probabilities, params, top_k, top_p)
    mass = torch.where(top_k < vocab_size, reached[:, -1:], 1.0)  # of the top k together
    is_cut |= has_nucleus & (reached - ordered >= top_p * mass)
    floor = ordered.masked_fill(is_cut, float("inf")).amin(dim=-1, keepdim=True)
    floor = floor.where(has_nucleus | (top_k < vocab_size), 0.0)
    return torch.maximum(floor, min_p * ordered[:, :1])


def _order(
    probabilities: torch.Tensor,
    params: list[SamplingParams],
    top_k: torch.Tensor,
    top_p: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Sort as many of the likeliest tokens as the filters of every row have to see.

    Returns:
        Their probabilities, what they and all before them reach together within the top k, and
        which are beyond the top k, each [R, W].
    """
    vocab_size = probabilities.shape[1]
    largest_k = max(p.top_k for p in params)
    widths = [width for width in WIDTHS if largest_k <= width < vocab_size]
    for width in (*widths, vocab_size):
        ordered = probabilities.topk(width, dim=-1).values
        is_cut = torch.arange(width, device=probabilities.device) >= top_k
        reached = ordered.masked_fill(is_cut, 0.0).cumsum(dim=-1)
        is_open = (top_p < 1) & (top_k > width) & (reached[:, -1:] < top_p)
        if width == vocab_size or not bool(is_open.any()):
            break
    return ordered, reached, is_cut
