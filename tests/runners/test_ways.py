"""What there is here to attend with."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from engine.runners.attention.backend import CapturableBackend
from engine.runners.attention.gather import GatherAttention
from engine.runners.attention.ways import find_platform, make_backend
from tests.runners.passes import CPU


def test_a_cpu_has_no_capability():
    platform = find_platform(CPU)

    assert (platform.device, platform.capability) == ("cpu", (0, 0))
    assert platform.torch == torch.__version__


def test_triton_is_found_and_told_to_interpret():
    pytest.importorskip("triton", reason="triton is not installed")

    platform = find_platform(CPU)

    assert (platform.has_triton, platform.is_interpreting) == (True, True)


def test_what_a_graph_can_hold_is_told_apart():
    pytest.importorskip("triton", reason="triton is not installed")

    assert isinstance(make_backend("triton", 16, CPU), CapturableBackend)
    assert isinstance(make_backend("gather", 16, CPU), GatherAttention)


def test_who_gathers_imports_no_triton():
    program = (
        "import sys; from engine.runners.attention.ways import make_backend; import torch;"
        "make_backend('gather', 16, torch.device('cpu'));"
        "sys.exit('engine.runners.triton.paged_kernel' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
