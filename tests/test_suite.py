"""The options of this suite: `--shuffle SEED` and `--repeats N`."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GOLDENS = ("tests/tui/test_jump.py", "tests/tui/test_filtering.py")


def collected(seed: str) -> list[str]:
    """The golden tests of two files, three times each, in the order of that seed."""
    options = ("-m", "golden", "-p", "no:randomly", "--shuffle", seed, "--repeats", "3")
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *options, *GOLDENS]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if "::" in line]


@pytest.mark.slow
def test_every_golden_is_drawn_so_many_times_in_an_order_that_its_seed_decides():
    order = collected("7")
    times = Counter(test.partition("[")[0] for test in order)
    assert times == {
        "tests/tui/test_jump.py::test_every_panel_has_a_letter": 6,
        "tests/tui/test_filtering.py::test_only_those_that_match_are_shown_and_counted": 6,
    }
    assert len({*order}) == 12
    files = [test.partition("::")[0] for test in order]
    assert files not in (sorted(files), sorted(files, reverse=True)), "one file after the other"
    assert collected("7") == order
    assert collected("8") != order
