"""Runs on disk: kept, listed, found again, deleted; and files that are no runs."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from engine.config import ConfigError
from engine.recording import Recording
from tests.library.builders import WHEN, findings_of, keep, opened
from tuiapp.library.library import Library
from tuiapp.library.opening import open_recorded
from tuiapp.running.verdicts import Ruling


@pytest.fixture
def library(tmp_path) -> Library:
    return Library(tmp_path / "runs")


def test_an_empty_library_has_no_folder_and_no_runs(library):
    assert library.entries() == []
    assert not library.folder.exists()


def test_a_run_is_named_by_time_preset_and_engine(library):
    assert keep(library, "static").path.name == "20260504-123015-straggler-static.jsonl"
    assert keep(library, "static").path.name == "20260504-123015-straggler-static-2.jsonl"
    assert keep(library).path.name == "20260504-123015-straggler-continuous.jsonl"


def test_an_entry_tells_of_a_run_without_reading_it(library):
    kept = keep(library, "static")
    (entry,) = library.entries()
    assert entry.path == kept.path
    assert entry.when == WHEN
    assert (entry.preset, entry.variant, entry.batcher) == ("straggler", "static", "static")
    assert (entry.model, entry.device, entry.is_simulated) == ("toy", "sim", True)
    assert entry.value("num_completed") == 16
    assert entry.value("e2e_p50_ms", "short") == pytest.approx(6130, rel=0.01)
    assert entry.value("no_such_metric") is None
    assert entry.value("e2e_p50_ms", "no such class") is None
    assert entry.size == sum(path.stat().st_size for path in library.folder.iterdir())
    assert entry.is_undisturbed
    assert entry.problem == ""


def test_the_newest_run_comes_first_and_files_of_others_last(library):
    older = keep(library, "static", WHEN).path.stem
    newer = keep(library, "dynamic", WHEN + timedelta(days=1)).path.stem
    (library.folder / "zebra.jsonl").write_text("no header\n")
    assert [entry.name for entry in library.entries()] == [newer, older, "zebra"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("no header\n", "this is no recording of batchscope; its first line has no header"),
        ("", "this is no recording of batchscope; its first line has no header"),
        (
            '{"format": "batchscope recording", "version": 9}\n',
            "written in format 9; this batchscope reads 1",
        ),
        (
            '{"format": "batchscope recording", "version": 1, "about": {}, "schema": 3}\n',
            "the header is damaged: 'about' or 'schema' is not as it should be",
        ),
        (
            '{"format": "batchscope recording", "version": 1, "about": {}, "schema": {}}\n',
            "it does not begin with an engine and its settings",
        ),
    ],
)
def test_what_is_no_run_is_listed_with_the_reason(library, text, problem):
    library.folder.mkdir()
    (library.folder / "strange.jsonl").write_text(text)
    (entry,) = library.entries()
    assert entry.problem == problem


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"runs": []}', '{"runs": [{"settings": 3}]}', "\xff"]
)
def test_a_damaged_report_is_made_anew_when_the_run_is_opened(library, text):
    path = keep(library, "static").path
    path.with_suffix(".json").write_text(text, "latin-1")
    (entry,) = library.entries()
    assert entry.run == {}
    assert entry.problem == ""
    assert open_recorded(path, library).findings
    assert library.entries()[0].value("num_completed") == 16


def test_a_run_that_is_opened_again_has_the_same_report(library):
    findings, events = findings_of("static")
    kept = library.keep(findings, events, WHEN)
    again = open_recorded(kept.path, library).findings
    assert again
    assert again.outcome.report == findings.outcome.report
    rulings = [verdict.ruling for verdict in findings.study.verdicts]
    assert [verdict.ruling for verdict in again.study.verdicts] == rulings
    assert again.slowest == findings.slowest
    assert again.subject.variant == "static"


def test_a_kept_run_is_a_recording_like_any_other(library):
    recording = Recording(keep(library, "static").path)
    assert recording.index.is_closed
    assert recording.header.about["preset"] == "straggler"


def test_the_oldest_runs_go_when_there_is_no_room(library):
    first = keep(library, "static")
    size = library.entries()[0].size
    small = Library(library.folder, max_bytes=size + 100)
    second = keep(small, "static", WHEN + timedelta(hours=1))
    assert second.pruned == (first.path.stem,)
    assert [entry.path for entry in small.entries()] == [second.path]
    assert not first.path.with_suffix(".json").exists()


def test_the_newest_run_stays_however_small_the_room_and_so_do_files_of_others(library):
    library.folder.mkdir()
    (library.folder / "strange.jsonl").write_text("mine\n" * 100)
    tiny = Library(library.folder, max_bytes=1)
    kept = keep(tiny, "static")
    assert kept.pruned == ()
    assert [entry.name for entry in tiny.entries()] == [kept.path.stem, "strange"]


def test_what_is_no_file_is_no_run(library):
    (library.folder / "folder.jsonl").mkdir(parents=True)
    (library.folder / "lost.jsonl").symlink_to("/nowhere")
    assert library.entries() == []


def test_a_run_can_be_deleted_and_found(library):
    path = keep(library, "static").path
    assert library.find(path.stem) == path
    library.delete(path)
    assert library.find(path.stem) is None
    assert list(library.folder.iterdir()) == []


def test_a_run_that_is_over_is_kept_and_one_that_is_not_is_not(library):
    found = opened("static", library=library)
    assert found.kept
    assert found.kept.path.exists()
    assert opened("static", num_passes=40, library=library).kept is None
    assert len(library.entries()) == 1


def test_claims_are_judged_beside_what_was_kept(library):
    for variant in ("dynamic", "continuous"):
        opened(variant, library=library)
    findings = opened("static", library=library).findings
    assert findings
    assert {verdict.ruling for verdict in findings.study.verdicts} == {Ruling.HOLDS}
    assert set(findings.judged_with) == {"dynamic", "continuous"}


def test_a_folder_that_cannot_be_made_is_said_and_nothing_is_lost(tmp_path):
    (tmp_path / "runs").write_text("a file")
    library = Library(tmp_path / "runs")
    with pytest.raises(ConfigError, match="cannot be made: File exists"):
        keep(library, "static")
    found = opened("static", library=library)
    assert found.findings
    assert "cannot be made" in found.complaint


def test_a_report_is_the_json_of_the_command_line(library):
    path = keep(library, "static").path
    table = json.loads(path.with_suffix(".json").read_text())
    assert table["preset"] == "straggler"
    assert table["runs"][0]["overall"]["num_completed"] == 16
    assert [claim["verdict"] for claim in table["claims"]] == ["holds", "not judged", "not judged"]
