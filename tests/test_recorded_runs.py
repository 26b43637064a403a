"""Runs that are recorded, read back, run again and broken off, from the command line."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import pytest
from typer.testing import CliRunner

from engine.config import ConfigError
from engine.recording import Recording, RecordingWriter
from engine.runners.parts import ModelSpec
from engine.settings import EngineSettings
from tuiapp.cli.main import app
from tuiapp.presets.parse import parse
from tuiapp.running.headless import run_preset
from tuiapp.running.recorded import read_run, recorded_slo

LINEAR = ("--device", "sim:linear")
PRESETS = Path(__file__).parent / "tui" / "presets"
STRAGGLER, HEAVY = PRESETS / "straggler.toml", PRESETS / "heavy-load.toml"
SMALL = """\
schema = 1
[preset]
id = "small"
title = "Small"
summary = "Four requests."
[[class]]
name = "chat"
count = 4
arrival = { kind = "at_once" }
prompt = { kind = "fixed", value = 16 }
output = { kind = "fixed", value = 6 }
"""
SLOW = """\
schema = 1
[preset]
id = "slow"
title = "Slow"
summary = "An answer every now and then, for minutes."
[[class]]
name = "chat"
count = 400
arrival = { kind = "constant", rate = 4.0 }
prompt = { kind = "fixed", value = 16 }
output = { kind = "fixed", value = 4 }
"""


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def call_json(*arguments):
    result = call(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.jsonl"


def record(path, preset=STRAGGLER, variant="static", *more):
    return call_json("run", preset, "--variant", variant, *LINEAR, "--record", path, *more)


@pytest.mark.parametrize(("preset", "variant"), [(STRAGGLER, "static"), (HEAVY, "continuous")])
def test_a_recording_gives_the_same_metrics_to_the_last_digit(path, preset, variant):
    (ran,) = record(path, preset, variant)["runs"]
    (read,) = call_json("replay", path)["runs"]
    assert read["overall"] == ran["overall"]
    assert read["classes"] == ran["classes"]
    assert (read["settings"], read["info"]) == (ran["settings"], ran["info"])


def test_a_recording_of_a_real_model_says_what_its_run_reported(path):
    preset, writer = parse(SMALL, Path("small.toml")), RecordingWriter(path, {})
    spec = ModelSpec(device="cpu")
    outcome = run_preset(preset, "", EngineSettings(), spec, pace=0.0, sinks=[writer])
    writer.close()
    read = read_run(Recording(path)).outcome
    assert read.report == outcome.report
    assert read.report.service.num_completed == 4


def test_a_recording_of_a_real_model_is_simulated_by_its_lengths(path):
    writer = RecordingWriter(path, {"device": "cpu"})
    preset = parse(SMALL, Path("small.toml"))
    run_preset(preset, "", EngineSettings(), ModelSpec(device="cpu"), pace=0.0, sinks=[writer])
    writer.close()
    recorded, rerun = call_json("rerun", path, *LINEAR)["runs"]
    assert rerun["overall"]["num_completed"] == 4
    for key in ("num_prompt_tokens", "num_output_tokens"):
        assert rerun["overall"][key] == recorded["overall"][key]


def test_several_runs_are_recorded_each_to_a_file_with_its_name(path):
    assert call("compare", STRAGGLER, *LINEAR, "--record", path).exit_code == 0
    names = sorted(each.name for each in path.parent.iterdir())
    assert names == ["run.continuous.jsonl", "run.dynamic.jsonl", "run.static.jsonl"]


def test_a_recording_says_what_would_make_it_again(path):
    record(path, STRAGGLER, "static", "--seed", "7", "--slo", "e2e_ms=9000")
    about = Recording(path).header.about
    assert (about["preset"], about["variant"], about["seed"]) == ("straggler", "static", 7)
    assert (about["model"], about["device"]) == ("tiny", "sim:linear")
    assert recorded_slo(Recording(path)).e2e_ms == 9000.0
    assert call_json("replay", path)["runs"][0]["overall"]["attainment"] == 1.0


def test_the_same_settings_run_again_give_the_same_numbers(path):
    (ran,) = record(path, HEAVY, "dynamic")["runs"]
    recorded, rerun = call_json("rerun", path)["runs"]
    assert recorded["overall"] == ran["overall"]
    assert rerun["overall"] == {
        key: value if value is None else pytest.approx(value, rel=1e-6)
        for key, value in ran["overall"].items()
    }


def test_the_same_arrivals_run_under_another_batcher(path):
    record(path)
    recorded, rerun = call_json("rerun", path, "--batcher", "continuous", "--slots", "4")["runs"]
    assert recorded["settings"]["batcher"] == "static"
    assert (rerun["settings"]["batcher"], rerun["settings"]["max_num_seqs"]) == ("continuous", 4)
    for key in ("num_requests", "num_prompt_tokens", "num_output_tokens"):
        assert rerun["overall"][key] == recorded["overall"][key]
    assert rerun["overall"]["e2e_p50_ms"] < 0.1 * recorded["overall"]["e2e_p50_ms"]


def test_a_rerun_can_be_recorded_and_gated(path, tmp_path):
    record(path)
    gate = ("--fail-if", "e2e_p50_ms > 1000")
    again = tmp_path / "again.jsonl"
    assert call("rerun", path, *gate).exit_code == 3
    assert call("rerun", path, "--batcher", "continuous", *gate, "--record", again).exit_code == 0
    assert Recording(again).header.about["rerun_of"] == "run.jsonl"
    result = call("rerun", path, "--record", path)
    assert result.exit_code == 2
    assert "--record: a recording cannot replace the one it is made from" in result.stderr


def test_traces_and_pages_are_made_of_recordings_too(path, tmp_path):
    record(path)
    trace, page = tmp_path / "t.json", tmp_path / "r.html"
    assert call("replay", path, "--trace", trace, "--report", page).exit_code == 0
    names = {each["name"] for each in json.loads(trace.read_text())["traceEvents"]}
    assert {"pass 0", "process_name", "straggler"} <= names
    assert "One long answer" in page.read_text("utf-8")


def test_what_is_no_recording_exits_2_with_the_place(path):
    path.write_text("hello\n")
    for command in ("replay", "rerun"):
        result = call(command, path)
        assert result.exit_code == 2
        assert f"{path}:1: this is no recording of batchscope" in result.stderr


def test_objectives_in_a_header_that_are_none_are_refused(path):
    record(path)
    text = path.read_text().replace('"slo":{}', '"slo":{"ttft":1}', 1)
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"run\.jsonl:1: slo\.ttft: unknown key"):
        recorded_slo(Recording(path))


def test_a_comparison_has_ratios_in_every_form():
    table = call("compare", STRAGGLER, *LINEAR)
    assert table.exit_code == 0
    assert "×0.011" in table.stdout
    found = call_json("compare", STRAGGLER, *LINEAR)
    ratios = [run["ratios"]["e2e_p50_ms"] for run in found["runs"]]
    assert ratios[0] == 1.0
    assert ratios[2] < 0.05
    rows = list(csv.DictReader(StringIO(call("compare", STRAGGLER, *LINEAR, "--csv").stdout)))
    assert {row["variant"] for row in rows} == {"static", "dynamic", "continuous"}
    assert call("compare", STRAGGLER, *LINEAR, "--markdown").stdout.startswith("### One long")


def test_a_comparison_can_choose_its_measure():
    found = call_json("compare", STRAGGLER, *LINEAR, "--variants", "continuous,static")
    assert [run["variant"] for run in found["runs"]] == ["continuous", "static"]
    assert found["runs"][1]["ratios"]["e2e_p50_ms"] > 10


def test_forms_do_not_go_together():
    result = call("compare", STRAGGLER, *LINEAR, "--csv", "--json")
    assert result.exit_code == 2
    assert "--json and --csv do not go together" in result.stderr


def test_a_gate_that_is_missed_exits_3_and_says_by_which_run():
    result = call("run", STRAGGLER, *LINEAR, "--fail-if", "ttft_p95_ms > 500")
    assert result.exit_code == 3
    assert "missed: static: ttft_p95_ms = 6130.45 (ttft_p95_ms > 500)" in result.stderr
    assert "continuous: ttft" not in result.stderr
    assert call("run", STRAGGLER, *LINEAR, "--fail-if", "ttft_p95_ms > 9000").exit_code == 0


def test_objectives_that_are_missed_exit_3():
    arguments = ("run", STRAGGLER, "--variant", "continuous", *LINEAR, "--slo")
    assert call(*arguments, "ttft_ms=1000").exit_code == 0
    assert call(*arguments, "e2e_ms=1000").exit_code == 3
    assert call(*arguments, "e2e_ms=1000,attainment=0.9").exit_code == 0


@pytest.fixture
def slow_run(tmp_path, path):
    """A run in real time, in a process of its own, that has begun to answer."""
    preset = tmp_path / "slow.toml"
    preset.write_text(SLOW)
    code = "from tuiapp.cli.main import main; main()"
    arguments = ("run", preset, "--device", "cpu", "--record", path, "--json")
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": "."},
    )
    deadline = time.monotonic() + 100
    while not (path.exists() and b'["Finished"' in path.read_bytes()):
        assert process.poll() is None, process.stderr and process.stderr.read()
        assert time.monotonic() < deadline, "nothing was answered in time"
        time.sleep(0.05)
    yield process
    process.kill()
    process.communicate()


@pytest.mark.slow
def test_a_run_that_is_killed_leaves_a_recording_up_to_its_last_complete_line(slow_run, path):
    slow_run.send_signal(signal.SIGKILL)
    slow_run.wait(20)
    recording = Recording(path)
    assert not recording.index.is_closed
    (read,) = call_json("replay", path)["runs"]
    assert read["overall"]["num_completed"] >= 1
    assert read["interrupted"]
    assert recording.duration > 0


@pytest.mark.slow
def test_ctrl_c_ends_a_run_with_the_report_of_what_was_done(slow_run, path):
    slow_run.send_signal(signal.SIGINT)
    stdout, _ = slow_run.communicate(timeout=60)
    assert slow_run.returncode == 130
    (ran,) = json.loads(stdout)["runs"]
    assert ran["interrupted"]
    assert ran["overall"]["num_completed"] >= 1
    assert Recording(path).index.is_closed
    (read,) = call_json("replay", path)["runs"]
    assert read["overall"] == ran["overall"]
