"""The checks for a CUDA device can be run; what they say of one only a device can tell."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gpu.contenders import make_mixed

ROOT = Path(__file__).parents[1]
SECONDS = 400  # it takes three quarters of a minute of CPU time, and a busy machine long


@pytest.mark.slow
@pytest.mark.timeout(SECONDS + 20)
def test_the_dry_run_passes_every_check_and_ends_with_every_bar():
    environment = {"PYTHON": sys.executable, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        ["bash", "tests/gpu/run.sh", "--dry"],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )

    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed, "no check ran"
    assert int(passed[1]) > 100
    assert "same tokens with and without graphs, float32" in done.stdout
    assert done.stdout.count("generate_batch") >= 7
    assert "failed" not in done.stdout.lower()
    assert "left out" not in done.stdout


def test_requests_of_the_mixed_workload_have_prompts_of_their_own():
    requests = make_mixed(96)

    assert len({request.prompt_token_ids for request in requests}) == 96
    assert {len(request.prompt_token_ids) for request in requests} == {8, 32, 128}
