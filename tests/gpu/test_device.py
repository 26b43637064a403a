"""The device is found, named, and speaks of itself; a cache beyond its memory is refused."""

from __future__ import annotations

import pytest
import torch

from engine.plan import RunnerError
from engine.runners.device import choose_device, describe_device, device_uuid, free_memory
from tests.runners.builders import make_model, make_runner

pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def _needs_cuda(device: torch.device) -> None:
    if device.type != "cuda":
        pytest.skip("only a CUDA device has this to say")


def test_auto_takes_the_device_and_knows_its_name(device):
    assert choose_device("auto") == device
    assert describe_device(device).startswith("NVIDIA")
    assert free_memory(device) > 2**30


def test_its_gauges_are_found_by_its_uuid(device):
    from engine.telemetry import make_telemetry

    gauges = make_telemetry(device_uuid(device)).read(now=1.0)

    assert gauges.name == "GPU"
    assert 0 < gauges.memory_used < gauges.memory_total


def test_a_cache_beyond_the_memory_is_refused_and_the_old_one_serves_on(device):
    runner = make_runner(make_model("llama").to(device), num_blocks=8)

    with pytest.raises(RunnerError, match="are free"):
        runner.resize(10**12, 4)

    assert runner.attention.cache.num_blocks == 8
