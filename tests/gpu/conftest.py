"""Where the checks run: on the CUDA device, or with `--dry` on the CPU to try the checks."""

from __future__ import annotations

import os
import time

import pytest
import torch

FIRST = ("test_tokens", "test_graphs", "test_fused", "test_device", "test_timing")  # then the rest
LATE = pytest.StashKey[float]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--dry", action="store_true", help="run the device's checks on the CPU")
    parser.addoption("--seconds", type=float, help="no check is begun later than that")


def pytest_configure(config: pytest.Config) -> None:
    """Let a CPU try the kernels, by interpreting them; Triton asks once, when it is imported."""
    seconds = config.getoption("--seconds")
    is_dry = config.getoption("--dry")
    config.stash[LATE] = time.monotonic() + (seconds if seconds and not is_dry else float("inf"))
    if is_dry:
        os.environ["TRITON_INTERPRET"] = "1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What says most comes first."""
    ranks = {name: rank for rank, name in enumerate(FIRST)}
    items.sort(key=lambda item: ranks.get(item.path.stem, len(ranks)))


def pytest_runtest_setup(item: pytest.Item) -> None:
    if time.monotonic() > item.config.stash[LATE]:
        pytest.skip("not reached in time")


@pytest.fixture(scope="session")
def device(request: pytest.FixtureRequest) -> torch.device:
    if request.config.getoption("--dry"):
        torch.set_num_threads(1)
        return torch.device("cpu")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device; --dry tries the checks on the CPU")
    return torch.device("cuda")
