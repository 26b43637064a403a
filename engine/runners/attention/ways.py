"""The ways to attend that there are here: `find_platform` looks, `make_backend` makes one.

Triton and torch's `varlen_attn` are imported only where they are asked for.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from inspect import signature
from typing import cast

import torch

from engine.runners.attention.backend import AttentionBackend
from engine.runners.attention.choice import Platform
from engine.runners.attention.gather import GatherAttention
from engine.runners.native.attention import NativeAttention
from engine.runners.native.find import NO_NATIVE, Native

INTERPRETING = "TRITON_INTERPRET"
PAGED_ARGUMENTS = {"block_table", "seqused_k", "enable_gqa", "num_splits"}


def find_platform(device: torch.device, native: Native = NO_NATIVE) -> Platform:
    """Look at the device and at what is installed."""
    is_cuda = device.type == "cuda"
    has_triton = find_spec("triton") is not None
    return Platform(
        device=device.type,
        capability=torch.cuda.get_device_capability(device) if is_cuda else (0, 0),
        has_triton=has_triton,
        is_interpreting=has_triton and INTERPRETING in os.environ and _is_interpreting(),
        has_varlen=_has_varlen(),
        torch=torch.__version__,
        no_native=None if native == NO_NATIVE else native.reason,
        native_dtype=native.kernels.dtype if native.kernels else None,
    )


def make_backend(
    name: str, block_size: int, device: torch.device, native: Native = NO_NATIVE
) -> AttentionBackend:
    """The way of that name, which has to be one that can."""
    if name == "triton":
        from engine.runners.triton.paged_triton import TritonAttention

        return TritonAttention(block_size, device)
    if name == "triton-tuned":
        from engine.runners.triton.paged_triton import TritonAttention
        from engine.runners.triton.tuning import TunedTiles

        return TritonAttention(block_size, device, choose_tiles=TunedTiles(device))
    if name == "varlen":
        from torch.nn.attention.varlen import varlen_attn

        from engine.runners.attention.varlen import PagedVarlen, VarlenAttention

        return VarlenAttention(block_size, device, cast(PagedVarlen, varlen_attn))
    if name == "native":
        assert native.kernels, "it can only be chosen with its kernels"
        return NativeAttention(block_size, device, native.kernels)
    return GatherAttention(block_size, device)


def _is_interpreting() -> bool:
    from triton import knobs

    return bool(knobs.runtime.interpret)


def _has_varlen() -> bool:
    """Whether it takes a paged cache; the first torch to have the function does not."""
    try:
        from torch.nn.attention.varlen import varlen_attn
    except ImportError:
        return False
    return set(signature(varlen_attn).parameters) >= PAGED_ARGUMENTS
