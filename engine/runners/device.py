"""Devices: which one to use, in which precision, with how many threads and how much memory."""

from __future__ import annotations

import torch

from engine.config import ConfigError, suggest

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def choose_device(name: str) -> torch.device:
    """The device of that name, or the best there is for `auto`.

    Raises:
        ConfigError: it is unknown, or not there.
    """
    available = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if name == "auto":
        return torch.device(next(kind for kind, is_there in available.items() if is_there))
    kind = name.partition(":")[0]
    if kind not in available:
        raise ConfigError(f"unknown device {name!r}; {suggest(name, ('auto', *available))}")
    if not available[kind]:
        raise ConfigError(f"torch finds no {kind} device here; 'auto' takes what there is")
    try:
        return torch.device(name)
    except RuntimeError:
        raise ConfigError(f"unknown device {name!r}; a number follows, as in 'cuda:0'") from None


def use_device(device: torch.device) -> None:
    """Make a numbered CUDA device this thread's own, to which its events and streams belong."""
    if device.type == "cuda" and device.index is not None:
        torch.cuda.set_device(device)


def choose_dtype(name: str, device: torch.device) -> torch.dtype:
    """The precision of that name; `auto` is float32, except on CUDA, where it is bfloat16.

    Raises:
        ConfigError: it is unknown.
    """
    if name == "auto":
        return torch.bfloat16 if device.type == "cuda" else torch.float32
    if name not in DTYPES:
        raise ConfigError(f"unknown dtype {name!r}; {suggest(name, ('auto', *DTYPES))}")
    return DTYPES[name]


def describe_device(device: torch.device) -> str:
    """What the vendor calls it, or `cpu`."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def device_uuid(device: torch.device) -> str:
    """What a CUDA device is called by its driver; empty for others."""
    is_cuda = device.type == "cuda"
    return str(torch.cuda.get_device_properties(device).uuid) if is_cuda else ""


def free_memory(device: torch.device) -> int:
    """Bytes that could be allocated on the device now."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        cached = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return free + cached
    if device.type == "mps":
        return torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory()
    import psutil  # which machines that only ever use their device may lack

    return psutil.virtual_memory().available
