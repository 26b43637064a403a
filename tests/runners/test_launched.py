"""Processes that torchrun starts are one engine, of which the first prints."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.config import ConfigError
from engine.plan import RunnerError
from engine.runners.parallel.adopted import Adopted
from engine.runners.parallel.launched import Launch, check_launch, find_launch

SMALL = """\
schema = 1
[preset]
id = "small"
title = "Small"
summary = "Two requests."
[engine]
num_kv_blocks = 40
[[request]]
label = "a"
prompt_tokens = 16
output_tokens = 4
[[request]]
label = "b"
prompt_tokens = 24
output_tokens = 4
"""
SECONDS = 120.0


def launch(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`batchscope run` in two processes."""
    preset = tmp_path / "small.toml"
    preset.write_text(SMALL)
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command = ["--nproc-per-node", "2", "-m", "tuiapp", "run", str(preset), "--device", "cpu"]
    return subprocess.run(
        [*torchrun, *command, *arguments],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )


@pytest.mark.slow
def test_two_that_share_a_model_give_one_report(tmp_path):
    done = launch(tmp_path, "--tensor-parallel", "2")

    assert done.returncode == 0, done.stderr
    assert done.stdout.count("2 requests, tiny on 2 x cpu (float32)") == 1
    assert done.stdout.count("requests completed") == 1


@pytest.mark.slow
def test_two_that_are_not_to_share_a_model_are_refused(tmp_path):
    done = launch(tmp_path)

    assert done.returncode != 0
    assert "give run or compare --tensor-parallel 2, or start it without torchrun" in done.stderr
    assert done.stdout == ""


def test_a_process_that_was_started_by_itself_is_none_of_several():
    assert find_launch({"RANK": "1", "WORLD_SIZE": "2"}) is None
    check_launch(None, 4)


def test_torchrun_says_which_of_how_many_this_is():
    environ = {"TORCHELASTIC_RUN_ID": "none", "RANK": "1", "WORLD_SIZE": "2"}
    assert find_launch(environ) == Launch(rank=1, size=2)
    check_launch(Launch(1, 2), 2)
    with pytest.raises(ConfigError, match="torchrun started 2 processes and --tensor-parallel is"):
        check_launch(Launch(1, 2), 4)


def test_those_that_are_out_of_step_take_no_further_order():
    adopted = Adopted()
    adopted.check()
    adopted.kill()
    with pytest.raises(RunnerError, match="start again with torchrun"):
        adopted.check()
