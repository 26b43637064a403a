"""The compiled kernels, for tests; a machine without a C++ compiler skips them."""

from __future__ import annotations

import pytest
import torch

from engine.loading import Report, report_nowhere
from engine.runners.native.find import Native, find_native


def make_native(
    dtype: torch.dtype = torch.float32, num_threads: int = 1, report: Report = report_nowhere
) -> Native:
    native = find_native(dtype, num_threads, report)
    if native.kernels is None:
        pytest.skip(native.reason)
    return native
