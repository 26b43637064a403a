from __future__ import annotations

import tomllib

import pytest
from typer.testing import CliRunner

from engine.hardware.devices import read_device
from tuiapp.cli.main import app


def call(*arguments):
    return CliRunner().invoke(app, ["calibrate", *map(str, arguments)])


@pytest.mark.slow
def test_the_shipped_model_is_timed_and_its_device_can_be_simulated(tmp_path):
    path = tmp_path / "here.toml"
    result = call("--rounds", 1, "-o", path)
    assert result.exit_code == 0, result.stderr
    device = read_device(path)
    assert device.achieved.pass_ms > 0
    assert "71 kinds of pass of tiny" in device.sources["achieved"]
    lines = result.stdout.splitlines()
    assert [line.split("  ")[0] for line in lines[:7]] == [
        "passes",
        "fitted",
        "held out: decode",
        "held out: prefill",
        "held out: mixed",
        "held out: padded",
        "held out: all",
    ]
    assert "Predicted against measured, held out: median" in result.stdout
    simulated = CliRunner().invoke(
        app, ["run", "straggler", "--device", f"sim:{path}", "--variant", "continuous"]
    )
    assert "tiny on cpu, 1 thread (simulated" in simulated.stdout


@pytest.mark.slow
def test_without_a_file_the_device_is_printed_and_the_report_goes_elsewhere():
    result = call("--rounds", 1)
    assert tomllib.loads(result.stdout)["name"] == "cpu, 1 thread"
    assert "Predicted against measured" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--device", "sim:h200"], "a simulation has nothing to measure"),
        (["--model", "llama-3.1-80b"], "did you mean 'llama-3.1-8b'?"),
        (["--rounds", "0"], "greater than or equal to 1"),
    ],
)
def test_what_cannot_be_measured_exits_2(arguments, message):
    result = call(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
