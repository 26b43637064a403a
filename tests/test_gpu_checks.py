"""The checks for a CUDA device can be run; what they say of one only a device can tell."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from engine.request import Request
from tests.gpu import measure
from tests.gpu.contenders import Speed, make_mixed
from tests.gpu.findings import Findings, print_bars
from tests.gpu.shapes import DRY, FULL

ROOT = Path(__file__).parents[1]
SECONDS = 600  # it takes a minute and a half of CPU time, and a busy machine long


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
    assert "True  same tokens from two engines without graphs" in done.stdout
    assert "us and launches a token, by kernel:" in done.stdout
    assert "no C++ compiler here" in done.stdout or "torch.compile" in done.stdout
    assert done.stdout.count("generate_batch") >= 7
    assert "failed" not in done.stdout.lower()
    assert "left out" not in done.stdout


def test_requests_of_the_mixed_workload_have_prompts_of_their_own():
    requests = make_mixed(96)

    assert len({request.prompt_token_ids for request in requests}) == 96
    assert {len(request.prompt_token_ids) for request in requests} == {8, 32, 128}


def make_findings() -> Findings:
    """All that there is to measure, with every bar met."""
    found = Findings(1e12, is_same=True, num_replays=9)
    for name in FULL.shapes:
        for size in FULL.batch_sizes:
            found.roofs[name, size] = 1.0
            for who in ("engine", "compiled"):
                found.speeds[name, who, size] = Speed(300.0, step=1.25)
            found.speeds[name, "generate_batch", size] = Speed(100.0)
    return found


def test_the_table_is_good_where_every_bar_is_met(capsys):
    assert print_bars(FULL, make_findings())

    assert "same tokens with graphs, 9 passes of them, and without" in capsys.readouterr().out


def test_a_bar_that_was_not_measured_is_not_met(capsys):
    found = make_findings()
    del found.speeds["1B", "generate_batch", 64]

    assert not print_bars(FULL, found)

    assert "NOT MEASURED         -  1B, batch 64: 2x generate_batch" in capsys.readouterr().out


class Graphless:
    """An engine on a device, on which no graph was recorded."""

    num_replays = 0

    def __init__(self, *args: object, **knobs: object) -> None:
        """Take what an engine takes."""

    def serve(self, requests: list[Request]) -> tuple[Speed, dict[str, list[int]]]:
        return Speed(1.0), {request.id: [5] for request in requests}

    def describe(self) -> str:
        return "graphs: off"


def test_equal_tokens_say_nothing_where_no_graph_ran(monkeypatch):
    found = Findings(1e12)
    monkeypatch.setattr(measure, "Engine", Graphless)

    with pytest.raises(RuntimeError, match="0 passes by a graph; graphs: off"):
        measure.compare_tokens(Path(), FULL, found)

    assert found.is_same is None


def test_what_a_dry_run_compares_is_not_called_graphs(monkeypatch, capsys):
    found = Findings(1e12)
    monkeypatch.setattr(measure, "Engine", Graphless)

    measure.compare_tokens(Path(), DRY, found)
    print_bars(DRY, found)

    assert found.is_same
    assert "same tokens from two engines without graphs" in capsys.readouterr().out
