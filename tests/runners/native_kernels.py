"""The compiled kernels, for tests; a machine without a C++ compiler skips them."""

from __future__ import annotations

import pytest
import torch

from engine.runners.native.find import Native, find_native


def make_native(dtype: torch.dtype = torch.float32, num_threads: int = 1) -> Native:
    native = find_native(dtype, num_threads)
    if native.kernels is None:
        pytest.skip(native.reason)
    return native
