"""The most memory that was in use."""

from __future__ import annotations

import resource
import sys

import torch

KIBIBYTE = 1024


def peak_memory(device: str) -> int:
    """Bytes at most: of the device by torch, or of this process on the CPU.

    Args:
        device: as torch calls it.
    """
    if torch.device(device).type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * KIBIBYTE
