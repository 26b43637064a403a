"""Which precision suits a model on a device: `choose_precision`."""

from __future__ import annotations

import torch
from transformers import AutoConfig, AutoModelForCausalLM

from engine.runners.device import choose_dtype
from engine.runners.loading.hub import reach
from engine.runners.loading.load import LOAD_ERRORS
from engine.runners.loading.sources import find_source
from engine.runners.parts import SMALL_MODEL, ModelSpec


def choose_precision(
    spec: ModelSpec, device: torch.device, *, is_native: bool | None = None
) -> torch.dtype:
    """The precision that is asked for; for `auto`, what suits the model and the device.

    A large model decodes as fast as its weights are read, so that half the bytes are twice the
    speed: a CPU that computes in bfloat16 takes that, as CUDA does for every model. A small one
    stays exact, for it is fast enough.

    Args:
        is_native: the CPU computes in bfloat16; None looks.

    Raises:
        ConfigError: there is no such precision or model.
    """
    dtype = choose_dtype(spec.dtype, device)
    if spec.dtype != "auto" or device.type != "cpu":
        return dtype
    if not (has_native_bfloat16() if is_native is None else is_native):
        return dtype
    return torch.bfloat16 if count_params(spec.model) >= SMALL_MODEL else dtype


def has_native_bfloat16() -> bool:
    """Whether this CPU multiplies in bfloat16 (AVX-512 BF16 or AMX)."""
    has_avx512_bf16: bool = torch.cpu._is_avx512_bf16_supported()
    has_amx: bool = torch.cpu._is_amx_tile_supported()
    return has_avx512_bf16 or has_amx


def count_params(name: str) -> int:
    """Weights of a model, shared ones counted once, by its configuration; none is loaded.

    Returns:
        How many; 0 where it cannot be told, which loading the model will explain.

    Raises:
        ConfigError: there is no such model, or nobody who could tell.
    """
    source = reach(find_source(name))
    try:
        config = AutoConfig.from_pretrained(source.place, **source.options)
        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(config)  # type: ignore[no-untyped-call]
    except LOAD_ERRORS:
        return 0
    return sum(parameter.numel() for parameter in model.parameters())
