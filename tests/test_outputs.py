import json

import pytest

from engine.recording import Recording
from tests.builders import ask, make_core
from tests.studies import small_study
from tuiapp.running.outputs import OutputFiles, Outputs


def events():
    core = make_core(ask("a"))
    for _ in range(5):
        core.step()
    return core.log.since(0)[0]


def files_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_nothing_is_written_that_is_not_wanted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with OutputFiles(Outputs(), 1) as files, files.follow("a", {}) as sinks:
        assert sinks == []
    assert files_in(tmp_path) == []


def test_of_one_run_the_recording_has_the_name_that_was_given(tmp_path):
    outputs = Outputs(record=tmp_path / "run.jsonl")
    with OutputFiles(outputs, 1) as files, files.follow("a", {"seed": 3}) as (sink,):
        sink.write(events())
    assert Recording(tmp_path / "run.jsonl").header.about == {"seed": 3}


def test_of_several_runs_each_recording_has_a_name_that_files_can_have(tmp_path):
    with OutputFiles(Outputs(record=tmp_path / "run.jsonl"), 2) as files:
        for name in ("chunk 64/128", "whole"):
            with files.follow(name, {}) as (sink,):
                sink.write(events())
    assert files_in(tmp_path) == ["run.chunk-64-128.jsonl", "run.whole.jsonl"]


def test_a_run_that_is_recorded_already_is_not_recorded_again(tmp_path):
    outputs = Outputs(record=tmp_path / "run.jsonl")
    with OutputFiles(outputs, 1) as files, files.follow("recorded") as sinks:
        assert sinks == []


def test_all_runs_share_a_trace_and_a_page(tmp_path):
    study, _ = small_study()
    outputs = Outputs(trace=tmp_path / "t.json", report=tmp_path / "r.html")
    with OutputFiles(outputs, 2) as files:
        assert "not over yet" in (tmp_path / "r.html").read_text("utf-8")
        for name in ("one", "two"):
            with files.follow(name, {}) as sinks:
                for sink in sinks:
                    sink.write(events())
        files.finish(study)
    records = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    named = [each["args"]["name"] for each in records if each["name"] == "process_name"]
    assert named == ["one", "two"]
    assert "not over yet" not in (tmp_path / "r.html").read_text("utf-8")


def break_off(outputs):
    with OutputFiles(outputs, 1) as files, files.follow("a", {}) as sinks:
        for sink in sinks:
            sink.write(events())
        raise KeyboardInterrupt


def test_a_run_that_is_broken_off_leaves_whole_files(tmp_path):
    outputs = Outputs(tmp_path / "run.jsonl", tmp_path / "t.json", tmp_path / "r.html")
    with pytest.raises(KeyboardInterrupt):
        break_off(outputs)
    assert Recording(tmp_path / "run.jsonl").index.is_closed
    assert len(json.loads((tmp_path / "t.json").read_text())["traceEvents"]) > 10
