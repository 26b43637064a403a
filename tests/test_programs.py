"""What a test does where the program that it drives is missing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.programs import REQUIRED, find_program

PYTHON = Path(sys.executable)


@pytest.fixture(autouse=True)
def _only_python(monkeypatch):
    monkeypatch.setenv("PATH", str(PYTHON.parent))
    monkeypatch.setenv(REQUIRED, "tmux chromium")


def test_the_first_that_is_there_is_found():
    assert find_program("no-such-program", PYTHON.name) == str(PYTHON)


def test_a_missing_program_skips_the_test():
    with pytest.raises(pytest.skip.Exception, match="no-such-program is not there"):
        find_program("no-such-program")


def test_a_missing_program_that_ci_requires_fails_the_test():
    with pytest.raises(pytest.fail.Exception, match="chromium is not there"):
        find_program("chromium", "google-chrome")
