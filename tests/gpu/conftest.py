"""Where the checks run: on the CUDA device, or with `--dry` on the CPU to try the checks."""

from __future__ import annotations

import os

import pytest
import torch


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--dry", action="store_true", help="run the device's checks on the CPU")


def pytest_configure(config: pytest.Config) -> None:
    """Let a CPU try the kernels, by interpreting them; Triton asks once, when it is imported."""
    if config.getoption("--dry"):
        os.environ["TRITON_INTERPRET"] = "1"


@pytest.fixture(scope="session")
def device(request: pytest.FixtureRequest) -> torch.device:
    if request.config.getoption("--dry"):
        torch.set_num_threads(1)
        return torch.device("cpu")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device; --dry tries the checks on the CPU")
    return torch.device("cuda")
