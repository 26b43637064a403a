"""`launching`: on which device Triton launches, and how its failures are told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from triton.errors import TritonError


@contextmanager
def launching(tensor: torch.Tensor) -> Iterator[None]:
    """Launch where a tensor lies; Triton takes torch's current device, which may be another.

    Raises:
        RuntimeError: in place of Triton's own kind, which nobody above knows.
    """
    try:
        with torch.cuda.device_of(tensor):  # type: ignore[no-untyped-call]
            yield
    except TritonError as error:
        raise RuntimeError(f"the Triton kernel cannot run: {error}") from error
