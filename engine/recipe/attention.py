"""Causal attention inside each document of a packed row, as an attention of transformers.

Each document is one call of the fused kernel, so that the cost is the sum of the squared lengths
of the documents, and no mask is made.
"""

from torch import Tensor, cat, nn, split
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface

NAME = "packed_documents"


def register() -> str:
    """Make the attention known to transformers and return its name."""
    AttentionInterface.register(NAME, attend_within_documents)
    return NAME


def attend_within_documents(
    module: nn.Module,  # noqa: ARG001 - the signature is transformers'
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,  # noqa: ARG001 - the lengths say it all
    *,
    lengths: list[int],
    scaling: float | None = None,
    **_: object,
) -> tuple[Tensor, None]:
    """Attend from each token to the earlier ones of its own document.

    Args:
        query: [1, heads, T, head_dim]; key and value have fewer heads.
        lengths: Number of tokens of each document, T in all.

    Returns:
        The attended values, [1, T, heads, head_dim], and no weights.
    """
    groups = query.shape[1] // key.shape[1]
    queries = split(query, lengths, dim=2)
    keys = split(key.repeat_interleave(groups, dim=1), lengths, dim=2)
    values = split(value.repeat_interleave(groups, dim=1), lengths, dim=2)
    attended = [
        scaled_dot_product_attention(q, k, v, is_causal=True, scale=scaling)
        for q, k, v in zip(queries, keys, values, strict=True)
    ]
    return cat(attended, dim=2).transpose(1, 2).contiguous(), None
