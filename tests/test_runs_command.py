"""Kept runs on the command line."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from tests.library.builders import keep
from tuiapp.cli.main import app
from tuiapp.library.library import Library


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def library(tmp_path, monkeypatch) -> Library:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return Library(tmp_path / "batchscope" / "runs")


def test_where_nothing_was_kept_the_list_says_how_to_begin(library):
    result = call("runs")
    assert result.exit_code == 0
    assert result.stdout.startswith("No run was kept yet in ")
    assert json.loads(call("runs", "--json").stdout)["runs"] == []


def test_runs_are_listed_with_their_numbers(library):
    keep(library, "static")
    (library.folder / "notes.jsonl").write_text("mine\n")
    result = call("runs")
    assert "20260504-123015-straggler-static" in result.stdout
    assert "simulated" in result.stdout
    assert "notes.jsonl: this is no recording of batchscope" in result.stderr
    run, notes = json.loads(call("runs", "--json").stdout)["runs"]
    assert (run["preset"], run["variant"], run["simulated"]) == ("straggler", "static", True)
    assert run["overall"]["num_completed"] == 16
    assert notes["problem"].startswith("this is no recording")


def test_a_run_is_deleted_by_its_name(library):
    name = keep(library, "static").path.stem
    assert call("runs", "delete", name).exit_code == 0
    assert library.entries() == []


def test_a_name_that_is_none_is_answered_with_the_nearest(library):
    assert "none was kept yet" in call("runs", "delete", "something").stderr
    name = keep(library, "static").path.stem
    result = call("runs", "delete", name.replace("static", "statik"))
    assert result.exit_code == 2
    assert f"did you mean {name!r}?" in result.stderr


def test_a_kept_run_is_replayed_and_run_again_by_its_name(library):
    name = keep(library, "static").path.stem
    (read,) = json.loads(call("replay", name, "--json").stdout)["runs"]
    assert read["overall"]["num_completed"] == 16
    again = call("rerun", name, "--batcher", "continuous", "--device", "sim:linear", "--json")
    assert json.loads(again.stdout)["runs"][1]["overall"]["num_completed"] == 16
    assert "no run is called 'elsewhere'" in call("replay", "elsewhere").stderr
