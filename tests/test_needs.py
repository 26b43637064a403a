"""What CI says that the tests need is not passed over where it is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def collect(need: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "--co",
            "-q",
            "tests/test_clock.py",
        ],
        cwd=ROOT,
        env=os.environ | {"BATCHSCOPE_TESTS_NEED": need},
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_is_missing_ends_the_tests_before_they_begin():
    done = collect("pytest no_such_package")

    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "no no_such_package; pip install -e '.[dev]' has it" in done.stderr


def test_what_is_there_lets_them_begin():
    assert collect("pytest torch").returncode == pytest.ExitCode.OK
