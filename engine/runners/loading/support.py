"""Which models a paged cache can serve: `adopt` refuses the others by name, with the reason."""

from __future__ import annotations

import torch
from transformers import PreTrainedConfig, PreTrainedModel

from engine.config import ConfigError
from engine.runners.attention.paged_attention import PagedAttention
from engine.runners.native.find import NO_NATIVE, Native

CONTEXT_ROPE = ("dynamic", "longrope")
PROBE_ERRORS = (RuntimeError, ValueError, TypeError, AttributeError, LookupError)
RECURRENT_LAYERS = ("linear_attention", "conv", "mamba", "recurrent")


class UnsupportedModelError(ConfigError):
    """A model whose layers do not all attend in a way that a paged cache can serve."""


def adopt(model: PreTrainedModel, way: str = "auto", native: Native = NO_NATIVE) -> PagedAttention:
    """Make the model use an attention of its own over a paged cache.

    One token is run through it, and every layer has to call that attention.

    Args:
        way: how to attend, see `ATTENTIONS`.
        native: our own kernels for a CPU.

    Raises:
        UnsupportedModelError: it cannot, and why.
    """
    name = type(model).__name__
    config = model.config.get_text_config()
    if reason := _reason(config):
        raise UnsupportedModelError(f"{name} is not supported: {reason}")
    attention = PagedAttention(model, way, native)
    config.pad_token_id = None  # or GPT-2 looks for padding in every pass, and waits for the device
    token = torch.zeros((1, 1), dtype=torch.long, device=model.device)
    try:
        with torch.inference_mode():
            model(input_ids=token, position_ids=token, use_cache=False)
    except PROBE_ERRORS as error:
        raise UnsupportedModelError(
            f"{name} is not supported: one token failed: {error}"
        ) from error
    called, layers = sorted(attention.shapes), list(range(config.num_hidden_layers))
    if called != layers:
        raise UnsupportedModelError(
            f"{name} is not supported: {len(called)} of its {len(layers)} layers use "
            "transformers' attention interface, and the paged cache needs all of them"
        )
    return attention


def _reason(config: PreTrainedConfig) -> str | None:
    """What in a configuration rules a model out, or None."""
    if config.is_encoder_decoder:
        return "it is an encoder with a decoder"
    kinds = {str(kind) for kind in getattr(config, "layer_types", None) or ()}
    recurrent = sorted(k for k in kinds if any(word in k for word in RECURRENT_LAYERS))
    if recurrent:
        return f"its {', '.join(recurrent)} layers keep a state that is not keys and values"
    if getattr(config, "attention_chunk_size", None):
        return "its attention is cut into chunks of the context"
    rope = _rope_types(getattr(config, "rope_parameters", None) or {}) & set(CONTEXT_ROPE)
    if rope:
        return (
            f"its {rope.pop()} RoPE depends on the longest sequence of a pass, so that results "
            "would depend on the company"
        )
    return None


def _rope_types(parameters: dict[str, object]) -> set[str]:
    """The kinds of RoPE, which some models set for each kind of layer."""
    found = {str(parameters.get("rope_type", "default"))}
    for value in parameters.values():
        if isinstance(value, dict):
            found |= _rope_types(value)
    return found
