"""The checks for a CUDA device can be run; what they say of one only a device can tell."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_the_dry_run_of_the_measurements_ends_with_every_bar():
    done = subprocess.run(
        [sys.executable, "tests/gpu/measure.py", "--dry"],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "same tokens with and without graphs, float32" in done.stdout
    assert done.stdout.count("generate_batch") >= 7
    assert "failed" not in done.stdout
