"""The whole of `batchscope bench`, very small."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from rich.console import Console
from typer.testing import CliRunner

import tuiapp.bench.command
from engine.bench.traffic import Traffic
from engine.config import ConfigError
from engine.events import EngineInfo
from engine.runners.parts import ModelSpec
from tests.engine_bench.builders import DUMMY, TINY
from tuiapp.bench import screen_cost
from tuiapp.bench.measure import give_threads, measure
from tuiapp.bench.report import bench_table, bench_to_json
from tuiapp.bench.request import FULL, QUICK, BenchRequest, choose_effort, read_commands, read_peers
from tuiapp.bench.screen_cost import measure_screen
from tuiapp.cli.main import app


@pytest.fixture(scope="module")
def report():
    return measure(BenchRequest(DUMMY, TINY))


def test_everything_is_measured(report):
    assert [each.name for each in report.standings] == ["this engine", "generate", "generate_batch"]
    assert all(each.rate.per_second > 0 for each in report.standings)
    assert report.standings[0].lead == 1.0
    assert [point.batch_size for point in report.decode] == [1, 2]
    assert [cost.num_seqs for cost in report.scheduling] == [2, 4]
    assert report.host is not None
    assert report.screen is None
    assert 0 < report.own_memory <= report.peak_memory


def test_the_tables_tell_it(report):
    console = Console(width=110)
    with console.capture() as capture:
        console.print(bench_table(report))
    text = capture.get()
    assert "3 requests at once" in text
    for words in ("generate_batch", "of the floor", "ns a sequence", "event log", "peak memory"):
        assert words in text
    assert "whole pass" in text


def test_the_json_tells_it_too(report):
    table = json.loads(tuiapp.bench.command.dump(bench_to_json(report)))
    assert table["info"]["model"] == "tiny (dummy)"
    assert table["standings"][1]["name"] == "generate"
    assert table["decode"][0]["of_floor"] > 0
    assert table["scheduling"][0]["num_seqs"] == 2
    assert table["log"]["seconds"] > 0
    assert table["host"]["phases"]["launch"]["share"] > 0
    assert table["traffic"]["num_slots"] == 2


def test_the_command_prints_and_writes(report, monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(
        tuiapp.bench.command,
        "measure",
        lambda request, say: say("it [all]") or asked.append(request) or report,
    )
    path = tmp_path / "b.json"
    command = ["bench", "--quick", "--device", "cpu", "--requests", "4", "--json", "-o", str(path)]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == json.loads(path.read_text())
    assert result.stderr == "measuring: it [all]\n"
    [request] = asked
    assert request.effort.traffic == Traffic(num_requests=4)
    assert request.effort.num_rounds == QUICK.num_rounds


def test_a_simulation_has_nothing_to_measure():
    with pytest.raises(ConfigError, match="a simulation has nothing to measure"):
        measure(BenchRequest(ModelSpec(device="sim"), TINY))


def test_effort_is_quick_or_full_with_what_the_user_names():
    assert choose_effort(is_quick=False) == FULL
    assert choose_effort(is_quick=True, num_slots=3).traffic.num_slots == 3


def test_peers_are_names_with_urls():
    assert read_peers(("vllm=http://localhost:8000",)) == (("vllm", "http://localhost:8000"),)
    for text in ("http://localhost", "vllm=localhost:8000", "=http://a"):
        with pytest.raises(ConfigError, match="is no NAME=URL"):
            read_peers((text,))


def test_servers_to_start_are_names_with_commands_that_have_a_place_for_the_port():
    assert read_commands(("a=b --port {port}",)) == (("a", "b --port {port}"),)
    for text in ("a=b", "b {port}", "=b {port}"):
        with pytest.raises(ConfigError, match=r"is no NAME=COMMAND with a \{port\}"):
            read_commands((text,))


def test_a_server_that_does_not_start_says_so_before_anything_is_compared():
    request = BenchRequest(DUMMY, TINY, commands=(("peer", "/no/where {port}"),))
    with pytest.raises(ConfigError, match="peer: cannot start /no/where"):
        measure(request)


def test_the_screen_is_drawn_in_a_terminal_of_its_own():
    effort = choose_effort(is_quick=True, num_requests=2)
    cost = measure_screen(ModelSpec(device="sim:linear"), effort)
    assert cost is not None
    assert min(cost.without, cost.with_screen) > 0
    assert cost.cpu_ratio > 0
    assert cost.ratio == pytest.approx(cost.with_screen / cost.without)


def test_a_run_that_takes_too_long_is_ended_and_said(monkeypatch):
    monkeypatch.setattr(screen_cost, "CHILD_SECONDS", 0.0)
    with pytest.raises(ConfigError, match="the headless run took longer than 0 s"):
        measure_screen(ModelSpec(device="sim:linear"), choose_effort(is_quick=True))


def test_a_server_on_the_cpu_gets_as_many_threads_as_this_engine():
    info = EngineInfo("m", "cpu", "float32", "a", 1, 64, 4, 16, num_threads=2)
    assert give_threads(info)["OMP_NUM_THREADS"] == "2"
    assert give_threads(info)["VLLM_CPU_OMP_THREADS_BIND"] == "0,1"
    assert give_threads(replace(info, device_uuid="GPU-1")) == {}
