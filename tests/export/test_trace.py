"""The trace of a run, held against what the Trace Event Format asks of each kind of event."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from engine.config import ConfigError
from engine.events import Failed, Gauges, GpuGauges
from engine.settings import BatcherName
from tests.builders import ask, make_core
from tests.recording.builders import run_crowd
from tuiapp.export.run_trace import RunTrace
from tuiapp.export.trace import TraceWriter

REQUIRED = {
    "M": {"name", "ph", "pid", "args"},
    "X": {"name", "cat", "ph", "ts", "dur", "pid", "tid"},
    "i": {"name", "ph", "ts", "pid", "tid", "s"},
    "C": {"name", "ph", "ts", "pid", "args"},
    "b": {"name", "cat", "ph", "ts", "pid", "tid", "id2"},
    "n": {"name", "cat", "ph", "ts", "pid", "tid", "id2"},
    "e": {"name", "cat", "ph", "ts", "pid", "tid", "id2"},
}


def trace(path: Path, *runs):
    writer = TraceWriter(path)
    for number, events in enumerate(runs, start=1):
        run = RunTrace(writer, number, f"run {number}")
        run.write(events)
        run.close()
    writer.close()
    table = json.loads(path.read_text())
    assert table["displayTimeUnit"] == "ms"
    return table["traceEvents"]


def events_of(*requests, passes=40, **knobs):
    core = make_core(*requests, **knobs)
    for _ in range(passes):
        core.step()
    return core.log.since(0)[0]


def of_kind(records, phase, name=""):
    return [each for each in records if each["ph"] == phase and each["name"].startswith(name)]


@pytest.fixture
def crowd(tmp_path):
    return trace(tmp_path / "trace.json", run_crowd(), run_crowd(batcher=BatcherName.STATIC))


def test_every_event_has_the_fields_that_its_kind_needs(crowd):
    assert {each["ph"] for each in crowd} == set(REQUIRED)
    for each in crowd:
        assert REQUIRED[each["ph"]] <= set(each)
        assert type(each["pid"]) is int
        assert type(each["ts"]) is float
        assert each["ts"] >= 0
        assert type(each["name"]) is str
        if each["ph"] == "X":
            assert each["dur"] >= 0
        if each["ph"] == "i":
            assert each["s"] in ("g", "p", "t")
        if each["ph"] == "C":
            assert all(type(value) in (int, float) for value in each["args"].values())
        if each["ph"] == "M":
            assert each["name"] in ("process_name", "thread_name", "thread_sort_index")


def test_runs_are_processes_and_slots_are_threads(crowd):
    named = {
        (each["pid"], each["tid"]): each["args"]["name"]
        for each in of_kind(crowd, "M", "thr")
        if "name" in each["args"]
    }
    processes = [each["args"]["name"] for each in of_kind(crowd, "M", "process_name")]
    assert processes == ["run 1", "run 2"]
    assert {named[1, tid] for tid in range(4)} == {"passes", "slot 0", "slot 1", "slot 2"}
    assert {(each["pid"], each["tid"]) for each in of_kind(crowd, "X")} <= set(named)


def test_slices_of_a_thread_do_not_overlap(crowd):
    ends = defaultdict(float)
    for each in sorted(of_kind(crowd, "X"), key=lambda each: each["ts"]):
        thread = each["pid"], each["tid"]
        assert each["ts"] >= ends[thread] - 1e-6
        ends[thread] = each["ts"] + each["dur"]


def test_every_request_has_one_begin_and_one_end(crowd):
    begins, ends = (
        {(each["pid"], each["id2"]["local"]): each["ts"] for each in of_kind(crowd, phase)}
        for phase in "be"
    )
    assert len(begins) == len(of_kind(crowd, "b")) == len(of_kind(crowd, "e")) == 40
    assert all(begins[key] <= ends[key] for key in begins)


def test_like_work_of_a_request_is_one_slice(tmp_path):
    records = trace(tmp_path / "t.json", events_of(ask("a", 20, 5), max_num_batched_tokens=8))
    slices = [each for each in of_kind(records, "X") if each["tid"] == 1]
    assert [(each["name"], each["ts"], each["dur"], each["args"]) for each in slices] == [
        ("prefill a", 0.0, 3e6, {"passes": 3, "tokens": 20}),
        ("decode a", 3e6, 4e6, {"passes": 4, "tokens": 4}),
    ]
    passes = of_kind(records, "X", "pass ")
    assert [each["args"]["tokens"] for each in passes] == [8, 8, 4, 1, 1, 1, 1]


def test_an_answer_that_comes_with_its_batch_ends_with_the_batch(tmp_path):
    static = {"batcher": BatcherName.STATIC, "max_batch_size": 2}
    records = trace(tmp_path / "t.json", events_of(ask("a", 4, 2), ask("b", 4, 6), **static))
    ends = {each["id2"]["local"]: each["ts"] for each in of_kind(records, "e")}
    assert ends == {"a": 6e6, "b": 6e6}
    held = of_kind(records, "X", "held a")
    assert [(each["ts"], each["dur"]) for each in held] == [(2e6, 4e6)]


def test_counters_show_the_queue_and_the_cache(tmp_path):
    records = trace(tmp_path / "t.json", events_of(ask("a", 20, 3), ask("b"), max_num_seqs=1))
    first = {each["name"]: each["args"] for each in reversed(of_kind(records, "C"))}
    assert first["requests"] == {"waiting": 1, "running": 1}
    assert first["KV blocks in use"] == {"blocks": 2}
    assert first["positions computed"] == {"tokens": 20, "padding": 0}


def test_preemptions_failures_and_power_are_shown(tmp_path):
    records = trace(
        tmp_path / "t.json", [*run_crowd(), Failed(3.0, "no"), Gauges(4.0, "GPU", None, 0, 0, 70.0)]
    )
    assert of_kind(records, "i", "preempted r")[0]["args"]["tokens_lost"] > 0
    (failed,) = of_kind(records, "i", "failed")
    assert (failed["ts"], failed["args"]) == (3e6, {"message": "no"})
    (power,) = of_kind(records, "C", "power")
    assert power["args"] == {"watts": 70.0}


def test_the_gauges_are_counters_as_far_as_the_device_says_them(tmp_path):
    gpu = GpuGauges(sm_clock_mhz=1410, sm_busy=0.9)
    gauges = [Gauges(1.0, "GPU", 0.5, 3 << 30, 9 << 30, gpu=gpu), Gauges(2.0, "GPU", None, 0, 0)]
    counters = of_kind(trace(tmp_path / "t.json", gauges), "C")
    assert {each["name"]: each["args"] for each in counters} == {
        "GPU busy": {"share": 0.5},
        "GPU memory": {"bytes": 3 << 30},
        "SM clock": {"MHz": 1410},
        "SM busy": {"share": 0.9},
    }


def test_what_is_under_way_when_a_run_is_broken_off_is_ended(tmp_path):
    records = trace(tmp_path / "t.json", events_of(ask("a", 4, 30), passes=5))
    assert [each["name"] for each in of_kind(records, "X") if each["tid"] == 1] == [
        "prefill a",
        "decode a",
    ]
    assert [each["ts"] for each in of_kind(records, "e")] == [5e6]


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(ConfigError, match="cannot be written: No such file or directory"):
        TraceWriter(tmp_path / "no" / "trace.json")
