import os
import subprocess
import sys
from pathlib import Path

import pytest

FULL = Path("/dev/full")


def show(stdout, **env):
    command = [sys.executable, "-m", "tuiapp", "presets", "show", "straggler"]
    return subprocess.run(
        command, env={**os.environ, **env}, stdout=stdout, stderr=subprocess.PIPE, check=False
    )


@pytest.mark.skipif(not FULL.exists(), reason="only Linux has a disk that is always full")
def test_a_full_disk_is_told_in_one_line():
    with FULL.open("w") as full:
        done = show(full)
    assert done.returncode == 1
    assert done.stderr == b"batchscope: [Errno 28] No space left on device\n"


def test_a_letter_that_the_encoding_lacks_becomes_a_question_mark():
    done = show(subprocess.PIPE, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"straggler" in done.stdout
