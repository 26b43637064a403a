"""A profile as a table and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console

from engine.metrics.host_time import PHASES, HostTime
from tests.passes import step
from tuiapp.reports.profile import profile_table, profile_to_json
from tuiapp.running.profiling import ProfileOutcome


def make_profile(trace=None):
    time = HostTime()
    time.feed(step(index * 0.05) for index in range(3))
    return ProfileOutcome(time.report(), trace)


def printed(profile, *, is_simulated=False):
    console = Console(width=120)
    with console.capture() as capture:
        console.print(profile_table("static", profile, is_simulated=is_simulated))
    return capture.get()


def test_the_table_has_a_row_for_each_phase_and_one_for_the_pass():
    text = printed(make_profile(Path("traces/a.json")))
    assert "Time of a pass, static" in text
    rows = [line.split() for line in text.splitlines()]
    assert ["build", "inputs", "2.000", "ms", "2.000", "ms", "4.0%"] in [row[:7] for row in rows]
    assert ["whole", "pass", "50.000", "ms", "50.000", "ms", "of", "2", "passes"] in rows
    assert "ui.perfetto.dev: traces/a.json" in text
    assert "simulated" not in text


def test_a_simulation_is_said_to_be_one():
    assert "simulated" in printed(make_profile(), is_simulated=True)


def test_a_run_of_one_pass_has_nothing_to_tell():
    assert "no pass followed another" in printed(ProfileOutcome(None))


def test_json_is_in_milliseconds_and_survives_a_reader():
    table = json.loads(json.dumps(profile_to_json(make_profile(Path("a.json")))))
    assert table["num_passes"] == 2
    assert table["pass_ms"]["p50"] == pytest.approx(50.0)
    assert tuple(table["phases"]) == PHASES
    assert table["phases"]["wait"] == pytest.approx(
        {"mean": 5.0, "p50": 5.0, "p99": 5.0, "max": 5.0, "share": 0.1}
    )
    assert table["trace"] == "a.json"


def test_json_of_nothing():
    assert profile_to_json(None) is None
    assert profile_to_json(ProfileOutcome(None)) == {
        "num_passes": 0,
        "pass_ms": None,
        "phases": {},
        "trace": None,
    }
