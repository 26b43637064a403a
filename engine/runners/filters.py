"""Top-k, top-p and min-p as one number a row: the lowest logit that may still be drawn.

Top-k sets it at the k-th largest, top-p at the smallest of the nucleus (Holtzman et al. 2020),
min-p at a distance below the largest (Nguyen et al. 2024); the highest of the three counts. As in
vLLM, the nucleus is one of the top k.

Shapes: R rows that sample, V tokens in the vocabulary, W of them in descending order.
"""

from __future__ import annotations

import torch

from engine.request import SamplingParams

WIDTH = 256  # a nucleus rarely has more tokens, and sorting a vocabulary takes far longer


def floors(logits: torch.Tensor, params: list[SamplingParams]) -> torch.Tensor:
    """The lowest logit of each row that its filters let through, [R, 1].

    Args:
        logits: [R, V], divided by the temperature.
    """
    vocab_size = logits.shape[1]
    knobs = [(p.top_k or vocab_size, p.top_p, p.min_p) for p in params]
    top_k, top_p, min_p = torch.tensor(knobs, device=logits.device).T[:, :, None]
    largest_k = max((p.top_k for p in params), default=0)
    for width in (min(vocab_size, max(WIDTH, largest_k)), vocab_size):
        ordered = logits.topk(width, dim=-1).values
        shares = _shares(logits, ordered, top_k)
        reached = shares.sum(dim=-1, keepdim=True)
        if width == vocab_size or not bool(((reached < top_p) & (top_k > width)).any()):
            break
    is_cut = torch.arange(width, device=logits.device) >= top_k
    is_cut |= (shares.cumsum(dim=-1) - shares >= top_p) & (top_p < 1)
    floor = ordered.masked_fill(is_cut, float("inf")).amin(dim=-1, keepdim=True)
    is_free = (top_k >= vocab_size) & (top_p >= 1)
    floor = floor.masked_fill(is_free, float("-inf"))
    return torch.maximum(floor, ordered[:, :1] + min_p.log())


def _shares(logits: torch.Tensor, ordered: torch.Tensor, top_k: torch.Tensor) -> torch.Tensor:
    """Probability of each of the W largest logits among the top k, [R, W]."""
    rank = torch.arange(ordered.shape[1], device=logits.device)
    among = ordered.masked_fill(rank >= top_k, float("-inf"))
    is_limited = top_k <= ordered.shape[1]
    total = torch.where(
        is_limited,
        among.logsumexp(dim=-1, keepdim=True),
        logits.logsumexp(dim=-1, keepdim=True),
    )
    return (among - total).exp()
