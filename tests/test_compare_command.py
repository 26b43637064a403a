import json

import pytest
from typer.testing import CliRunner

from tests.told import PRESET, measured
from tuiapp.cli.main import app
from tuiapp.commands.compare import judge_engines
from tuiapp.running.study import study_preset


def call(*arguments):
    return CliRunner().invoke(app, ["compare", *map(str, arguments)])


def judge(*outcomes):
    return judge_engines(study_preset(PRESET, outcomes, ()))


def test_a_win_that_noise_explains_is_not_called_one():
    told = judge(measured("a", {"out_tps": 100.0}), measured("b", {"out_tps": 108.0}))
    assert told == (
        "A draw: no lane is ahead of another by more than noise. One run each, like passes "
        "differed by 0%: below 10% counts as noise; --repeats 3 repeats them."
    )


def test_a_win_in_every_run_is_one_though_it_is_small():
    slow = measured("slow", {"out_tps": 100.0}, {"out_tps": 102.0}, {"out_tps": 101.0})
    fast = measured("fast", {"out_tps": 107.0}, {"out_tps": 110.0}, {"out_tps": 108.0})
    assert judge(slow, fast) == (
        "fast wins: throughput 1.1× higher than slow. It costs nothing here. Medians of 3 runs; "
        "those of a lane differ by up to 3%."
    )


def test_one_run_that_overlaps_takes_the_win_away():
    slow = measured("slow", {"out_tps": 100.0}, {"out_tps": 109.0})
    fast = measured("fast", {"out_tps": 108.0}, {"out_tps": 125.0})
    assert judge(slow, fast).startswith("A draw: no lane is ahead of another by more than noise.")


def test_engines_that_did_not_do_the_same_work_are_not_ranked():
    told = judge(measured("a", {"num_completed": 2}), measured("b", {"num_completed": 1}))
    assert told == "Not the same work: requests answered in full: a 2, b 1."


def test_one_engine_alone_has_no_verdict():
    assert judge(measured("a", {})) == ""


def test_the_verdict_is_in_every_form_for_people_and_in_the_json():
    table = call("straggler", "--device", "sim").stdout
    assert "Verdict (simulated)" in table
    assert "continuous wins: median first token" in table
    markdown = call("straggler", "--device", "sim", "--markdown").stdout
    assert "\nVerdict (simulated): continuous wins: " in markdown
    found = json.loads(call("straggler", "--device", "sim", "--json").stdout)
    assert found["verdict"].startswith("continuous wins: ")
    assert [run["num_runs"] for run in found["runs"]] == [1, 1, 1]


def test_a_simulation_is_not_repeated_since_nothing_would_change():
    result = call("straggler", "--device", "sim", "--repeats", 3, "--json")
    assert result.exit_code == 0
    assert result.stderr == "batchscope: a simulation repeats itself exactly: one run of each\n"
    assert [run["num_runs"] for run in json.loads(result.stdout)["runs"]] == [1, 1, 1]


def test_no_run_at_all_is_refused():
    result = call("straggler", "--repeats", 0)
    assert result.exit_code == 2
    assert "--repeats" in result.stderr


@pytest.mark.slow
def test_on_a_device_every_engine_runs_so_often():
    variants = ("--variants", "continuous,dynamic")
    result = call("straggler", *variants, "--threads", 1, "--repeats", 2, "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert "Medians of 2 runs; those of a lane differ by up to " in found["verdict"]
    for run in found["runs"]:
        least, most = run["spread"]["out_tps"]
        assert run["num_runs"] == 2
        assert least <= run["overall"]["out_tps"] <= most
