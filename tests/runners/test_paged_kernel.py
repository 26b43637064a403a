"""The Triton kernels compile for devices that are not here, within what those have."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

pytest.importorskip("triton", reason="triton is not installed")

# Shared memory that a program may have, by compute capability: CUDA C++ programming guide, table
# of technical specifications (A100; RTX 4090 and L4; H100 and H200).
SHARED_MEMORY = {80: 163 * 1024, 89: 99 * 1024, 90: 227 * 1024}
HALVES = ("bf16", "fp16")
LITTLE_STACK = 64  # bytes a thread; a tile that spills keeps hundreds

pytestmark = pytest.mark.timeout(300)  # a device takes a minute on a busy machine


def compile_for(capability: int, cache_dir: str) -> list[dict[str, Any]]:
    surroundings = {key: text for key, text in os.environ.items() if key != "TRITON_INTERPRET"}
    command = [sys.executable, "-m", "tests.runners.compile_kernels", str(capability)]
    environment = surroundings | {"TRITON_CACHE_DIR": cache_dir}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def attending(kernels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that attend, a decoding row or chunks; the others move and scale what there is."""
    return [kernel for kernel in kernels if kernel["name"].endswith(("decode", "chunks"))]


@pytest.fixture(scope="module", params=SHARED_MEMORY)
def capability(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module")
def kernels(capability: int, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    return compile_for(capability, str(tmp_path_factory.mktemp("triton")))


def test_each_fits_into_the_shared_memory_and_the_registers(kernels, capability):
    too_large = [
        kernel
        for kernel in kernels
        if kernel["shared"] > SHARED_MEMORY[capability] or kernel["stack"] > LITTLE_STACK
    ]

    assert len(kernels) == 9 * 2 + 1 + 3 * 6
    assert too_large == []


def test_half_precision_is_for_tensor_cores_and_float32_never_rounds_to_tf32(kernels):
    halves = [kernel for kernel in attending(kernels) if kernel["dtype"] in HALVES]
    assert {kernel["dtype"] for kernel in halves} == set(HALVES)
    assert all("mma" in kernel["uses"] for kernel in halves)
    assert not any("tf32" in kernel["uses"] for kernel in kernels)


def test_keys_and_values_are_copied_while_others_are_computed_with(kernels):
    assert all("cp.async" in kernel["uses"] for kernel in attending(kernels))


def test_hopper_multiplies_chunks_with_its_own_instructions(kernels, capability):
    chunks = [k for k in kernels if k["dtype"] in HALVES and "chunks" in k["name"]]

    narrow = [kernel for kernel in chunks if "the widest" not in kernel["name"]]
    assert all(("wgmma" in kernel["uses"]) is (capability == 90) for kernel in narrow)
