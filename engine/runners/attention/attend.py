"""Attention of some queries over some keys, once both lie in plain tensors.

Shapes: R rows of N queries and C keys; H query heads in groups of G that share one of K
key/value heads; D dimensions a head.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn.functional import scaled_dot_product_attention

WORTH_A_QUERY = 512  # keys of all rows together, from which on a query more saves time


@dataclass(frozen=True, slots=True)
class AttentionOptions:
    """What a layer asks of attention beside its tensors.

    Attributes:
        scaling: factor of the scores; None for 1 / sqrt(D).
        window: a token sees so many tokens, itself included; None for all.
        softcap: scores are squeezed into plus or minus this, as in Gemma 2.
        sinks: a score per head, [H], that takes its share and yields nothing, as in gpt-oss.
    """

    scaling: float | None = None
    window: int | None = None
    softcap: float | None = None
    sinks: torch.Tensor | None = None

    @property
    def is_plain(self) -> bool:
        """Whether torch's fused attention can do it."""
        return self.softcap is None and self.sinks is None


def attend_causal(
    query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, options: AttentionOptions
) -> torch.Tensor:
    """Attend from each position to those up to itself, with no mask in memory.

    Args:
        query: [R, H, N, D].
        keys, values: [R, K, N, D].

    Returns:
        [R, H, N, D].
    """
    return scaled_dot_product_attention(
        query,
        keys,
        values,
        is_causal=True,
        scale=options.scaling,
        enable_gqa=query.shape[1] != keys.shape[1],
    )


def attend(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    mask: torch.Tensor,
    options: AttentionOptions,
) -> torch.Tensor:
    """Attend with the heads of a group beside each other, so that no key is copied for them.

    Args:
        query: [R, K, G * N, D].
        keys, values: [R, K, C, D].
        mask: 0 where a query sees a key, else -inf; broadcasts to [R, K, G * N, C].

    Returns:
        [R, K, G * N, D].
    """
    if options.is_plain:
        num_queries = query.shape[2]
        if _is_better_even(query, keys, mask):
            query = torch.cat((query, query[:, :, :1]), dim=2)
        output = scaled_dot_product_attention(query, keys, values, mask, scale=options.scaling)
        return output.narrow(2, 0, num_queries)
    scale = query.shape[-1] ** -0.5 if options.scaling is None else options.scaling
    scores = torch.matmul(query.float(), keys.float().transpose(-1, -2)) * scale
    if options.softcap is not None:
        scores = torch.tanh(scores / options.softcap) * options.softcap
    weights = _softmax(scores + mask, options.sinks)
    return torch.matmul(weights, values.float()).to(query.dtype)


def _is_better_even(query: torch.Tensor, keys: torch.Tensor, mask: torch.Tensor) -> bool:
    """Whether one query more would take less time than 1 or 3.

    So it is where rows decode on a CPU, whose kernel for products of matrices takes queries in
    twos: a quarter less for 3, and two thirds less for 1 in bfloat16.
    """
    num_queries = query.shape[2]
    is_slow = num_queries == 3 or (num_queries == 1 and query.dtype is torch.bfloat16)
    if not is_slow or query.device.type != "cpu" or mask.shape[2] != 1:
        return False
    return keys.shape[0] * keys.shape[2] >= WORTH_A_QUERY


def _softmax(scores: torch.Tensor, sinks: torch.Tensor | None) -> torch.Tensor:
    """Softmax over the keys, [R, K, G * N, C], with a sink beside them where there is one."""
    if sinks is None:
        return scores.softmax(dim=-1)
    num_kv_heads, num_queries = scores.shape[1:3]
    sink = sinks.float().view(num_kv_heads, -1)
    sink = sink.repeat_interleave(num_queries // sink.shape[1], dim=1)
    sink = sink[None, :, :, None].expand(scores.shape[0], -1, -1, 1)
    return torch.cat((scores, sink), dim=-1).softmax(dim=-1)[..., :-1]
