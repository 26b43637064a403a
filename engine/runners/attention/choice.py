"""Which way to attend, by what the device, the installed libraries and the model can do: `choose`.

Pure: what there is comes in as values, `Platform` and `Demands`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import torch

from engine.config import ConfigError, suggest
from engine.runners.native.layout import LANES

Precision = torch.dtype

ATTENTIONS = ("auto", "native", "triton", "triton-tuned", "varlen", "gather")
IN_ORDER = ("triton", "varlen", "gather")  # what `auto` takes, from the fastest on
LEAST_CAPABILITY = (8, 0)  # Ampere: bfloat16 on tensor cores, copies that overlap
WIDEST_HEAD = 512  # of the kernel's tiles that are known to compile
NO_FAILURES: Mapping[str, str] = MappingProxyType({})
VARLEN_DTYPES = (torch.float16, torch.bfloat16)
VARLEN_WIDEST_HEAD = 256
VARLEN_BLOCK_SIZE = 256


@dataclass(frozen=True, slots=True)
class Platform:
    """What runs here.

    Attributes:
        device: `cuda`, `cpu` or `mps`.
        capability: of a CUDA device, as (9, 0).
        has_triton: whether it is installed.
        is_interpreting: whether Triton is told to interpret its kernels, on any device.
        has_varlen: whether torch's `varlen_attn` knows paged caches.
        torch: its version.
        no_native: why the CPU kernels of our own cannot be had, or empty; None where nobody looked.
        native_dtype: what they compute in.
    """

    device: str
    capability: tuple[int, int]
    has_triton: bool
    is_interpreting: bool
    has_varlen: bool
    torch: str
    no_native: str | None = None
    native_dtype: Precision | None = None


@dataclass(frozen=True, slots=True)
class Demands:
    """What the model's layers and the settings ask for.

    Attributes:
        dims: of the keys and of the values, of all layers.
        has_softcap, has_sinks: whether any layer has them.
    """

    dtype: torch.dtype
    block_size: int
    dims: frozenset[tuple[int, int]]
    has_softcap: bool
    has_sinks: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """A way to attend.

    Attributes:
        name: one of `ATTENTIONS` but `auto`.
        passed_over: why each better way that this device is made for was not taken; or empty.
    """

    name: str
    passed_over: str = ""


def choose(
    name: str, platform: Platform, demands: Demands, failures: Mapping[str, str] = NO_FAILURES
) -> Choice:
    """The way of that name, or for `auto` the first that can.

    Args:
        failures: why ways that could have have failed all the same, by name.

    Raises:
        ConfigError: there is none of that name, or it cannot.
    """
    check_name(name)
    reasons = {
        "native": why_not_native(platform, demands),
        "triton": why_not_triton(platform, demands),
        "triton-tuned": _why_not_device(platform) or why_not_triton(platform, demands),
        "varlen": why_not_varlen(platform, demands),
        "gather": "",
    } | dict(failures)
    if name != "auto":
        if reasons[name]:
            raise ConfigError(f"--attention {name}: {reasons[name]}; or take --attention auto")
        return Choice(name)
    if platform.device != "cuda":
        return _choose_for_cpu(platform, reasons["native"])
    best = IN_ORDER.index(next(way for way in IN_ORDER if not reasons[way]))
    return Choice(IN_ORDER[best], _tell_passed_over(IN_ORDER[:best], reasons))


def check_name(name: str) -> None:
    """Refuse a name that is none.

    Raises:
        ConfigError: with the nearest that is one.
    """
    if name not in ATTENTIONS:
        raise ConfigError(f"unknown attention {name!r}; {suggest(name, ATTENTIONS)}")


def can_compile_kernels(platform: Platform) -> bool:
    """Whether Triton can make kernels for the device."""
    return platform.has_triton and not _why_not_device(platform)


def why_not_native(platform: Platform, demands: Demands) -> str:
    """What stands against our own kernels for a CPU, and what would help; empty for nothing."""
    if platform.device != "cpu":
        return f"it needs a CPU, and this is {platform.device}"
    if platform.no_native is None:
        return "its kernels have not been loaded"
    if platform.native_dtype not in (None, demands.dtype):
        return f"its kernels are for {platform.native_dtype}, and the keys in {demands.dtype}"
    narrow = sorted(dim for dims in demands.dims for dim in dims if dim % LANES)
    if narrow and not platform.no_native:
        return f"heads of {narrow[0]} dimensions are no multiple of {LANES}"
    return platform.no_native


def why_not_triton(platform: Platform, demands: Demands) -> str:
    """What stands against the project's own kernel, and what would help; empty for nothing."""
    if not platform.has_triton:
        return "triton is not installed (pip install triton)"
    if platform.is_interpreting:
        return ""
    if reason := _why_not_device(platform):
        return reason
    widest = max(max(dims) for dims in demands.dims)
    if widest > WIDEST_HEAD:
        return f"heads of {widest} dimensions are more than its {WIDEST_HEAD}"
    return ""


def why_not_varlen(platform: Platform, demands: Demands) -> str:
    """What stands against torch's FlashAttention, and what would help; empty for nothing."""
    if reason := _why_not_device(platform):
        return reason
    if not platform.has_varlen:
        return f"torch {platform.torch} has no varlen_attn for a paged cache (torch 2.13 has)"
    return _why_not_model(demands) or _why_not_settings(demands)


def _choose_for_cpu(platform: Platform, no_native: str) -> Choice:
    """Of the ways that need no CUDA device; says what is missing where it was looked for."""
    if not no_native:
        return Choice("native")
    return Choice("gather", "" if platform.no_native is None else f"not native: {no_native}")


def _tell_passed_over(ways: Sequence[str], reasons: Mapping[str, str]) -> str:
    """Why none of these was taken, each reason once."""
    ways_by_reason: dict[str, list[str]] = {}
    for way in ways:
        ways_by_reason.setdefault(reasons[way], []).append(way)
    return "; ".join(f"not {' or '.join(ways)}: {why}" for why, ways in ways_by_reason.items())


def _why_not_device(platform: Platform) -> str:
    if platform.device != "cuda":
        return f"it needs a CUDA device, and this is {platform.device}"
    if platform.capability < LEAST_CAPABILITY:
        found = "{}.{}".format(*platform.capability)
        return f"it needs compute capability 8.0, and this device has {found}"
    return ""


def _why_not_model(demands: Demands) -> str:
    for demand, has in (("softcap", demands.has_softcap), ("sinks", demands.has_sinks)):
        if has:
            return f"the model's attention has {demand}, which it cannot do"
    for key_dim, value_dim in sorted(demands.dims):
        if key_dim != value_dim:
            return f"the model's keys have {key_dim} dimensions and its values {value_dim}"
        if key_dim > VARLEN_WIDEST_HEAD or key_dim % 8:
            return f"it takes multiples of 8 up to {VARLEN_WIDEST_HEAD} dimensions, not {key_dim}"
    return ""


def _why_not_settings(demands: Demands) -> str:
    if demands.dtype not in VARLEN_DTYPES:
        dtype = str(demands.dtype).removeprefix("torch.")
        return f"it cannot do {dtype} (--dtype bfloat16)"
    if demands.block_size % VARLEN_BLOCK_SIZE:
        return (
            f"blocks of {demands.block_size} tokens are no multiple of {VARLEN_BLOCK_SIZE} "
            f"(block_size = {VARLEN_BLOCK_SIZE} allows it)"
        )
    return ""
