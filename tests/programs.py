"""`find_program`: programs that tests drive, which are not the project's and may not be there."""

from __future__ import annotations

import os
import shutil

import pytest

REQUIRED = "BATCHSCOPE_CI_REQUIRES"  # programs, apart by spaces, without which CI must not be green


def find_program(*names: str) -> str:
    """The path of the first of these that is there; else the test is skipped, or fails in CI."""
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        required = os.environ.get(REQUIRED, "").split()
        (pytest.fail if names[0] in required else pytest.skip)(f"{names[0]} is not there")
    return found
