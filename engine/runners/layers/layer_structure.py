"""What the parts of a Llama-like layer are called: `find_linears` sees whether a layer has them."""

from __future__ import annotations

from typing import Any

import torch

INPUTS = ("q_proj", "k_proj", "v_proj")
HEAD_NORMS = ("q_norm", "k_norm")
PARTS = ("self_attn", "mlp", "input_layernorm", "post_attention_layernorm")


def find_linears(module: Any) -> list[torch.nn.Linear] | None:
    """The linear layers of a layer's attention: q, k, v, o.

    Returns:
        None where the layer has other parts than the usual ones, or some of q, k and v a bias and
        others none.
    """
    if {name for name, _ in module.named_children()} != set(PARTS):
        return None
    attention = module.self_attn
    linears = [getattr(attention, name, None) for name in (*INPUTS, "o_proj")]
    own = {name.partition(".")[0] for name, _ in attention.named_parameters()}
    is_usual = own <= {*INPUTS, *HEAD_NORMS, "o_proj"} and hasattr(attention, "head_dim")
    if not is_usual:
        return None
    found = [linear for linear in linears if type(linear) is torch.nn.Linear]
    num_kinds = len({has_bias(linear) for linear in found[:-1]})
    return found if len(found) == len(linears) and num_kinds == 1 else None


def freeze(tensor: torch.Tensor) -> torch.nn.Parameter:
    """A weight of a part: one whose size `torch.compile` takes for fixed."""
    return torch.nn.Parameter(tensor, requires_grad=False)


def has_bias(linear: torch.nn.Linear) -> bool:
    """Whether there is one; torch's annotation says always."""
    bias: torch.Tensor | None = linear.bias
    return bias is not None
