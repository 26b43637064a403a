"""The report of a run: how it looks, and what its keys do."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest
from textual.worker import WorkerFailed

from engine.settings import BatcherName
from tests.library.builders import straggler
from tests.tui.goldens import check_screen, screen_text
from tests.tui.stage import SIZES, mixed_traffic, staged
from tuiapp.library.library import Library
from tuiapp.screens.inspect import InspectScreen
from tuiapp.screens.lessons import LessonsScreen
from tuiapp.screens.live import LiveScreen
from tuiapp.screens.report import ReportScreen

sizes = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")


def name(state, size):
    return f"{state}-{size[0]}x{size[1]}"


async def play(stage, variant="static", num_passes=100_000):
    stage.app.session.play_preset(straggler(), variant)
    await stage.run(num_passes)
    await stage.settle()


@sizes
async def test_the_report_of_a_preset(size):
    async with staged(size, num_kv_blocks=4096) as stage:
        await play(stage, "continuous")
        check_screen(stage.app, name("report", size))
        await stage.press("pagedown")
        check_screen(stage.app, name("report-below", size))


@sizes
async def test_the_report_of_a_run_that_goes_on(size):
    async with staged(size, mixed_traffic, num_kv_blocks=40) as stage:
        await stage.run(150)
        await stage.press("r")
        check_screen(stage.app, name("report-so-far", size))


@sizes
async def test_the_report_of_batches_beside_kept_runs(size, tmp_path, monkeypatch):
    monkeypatch.setattr("tuiapp.library.opening.datetime", FixedTime)
    monkeypatch.chdir(tmp_path)
    async with staged(size, num_kv_blocks=4096, library=Library(Path("runs"))) as stage:
        await play(stage, "static")
        check_screen(stage.app, name("report-static", size))
        await stage.press("n")
        await stage.run(100_000)
        await stage.press("n")
        await stage.run(100_000)
        await stage.press("pagedown")
        check_screen(stage.app, name("report-judged", size))


class FixedTime(datetime):
    """The time at which every run of a golden was kept."""

    @classmethod
    def now(cls, tz=None):
        return cls(2026, 5, 4, 12, 30, 15)


@sizes
async def test_the_report_of_nothing(size):
    async with staged(size) as stage:
        await stage.press("r")
        check_screen(stage.app, name("report-empty", size))


async def test_a_preset_that_is_over_opens_its_report_and_is_kept_once(tmp_path):
    library = Library(tmp_path)
    async with staged(library=library, num_kv_blocks=4096) as stage:
        await play(stage)
        assert isinstance(stage.app.screen, ReportScreen)
        (entry,) = library.entries()
        assert entry.path.name in screen_text(stage.app) or entry.variant == "static"
        await stage.press("escape")
        assert isinstance(stage.app.screen, LiveScreen)
        await stage.press("r")
        assert isinstance(stage.app.screen, ReportScreen)
        assert len(library.entries()) == 1


async def test_a_preset_that_is_over_behind_another_screen_is_kept_and_said(tmp_path):
    library = Library(tmp_path)
    async with staged(library=library, num_kv_blocks=4096) as stage:
        await stage.press("k")
        await play(stage)
        (notice,) = stage.app._notifications
        assert notice.message == "straggler is over: r on the live screen shows its report"
        assert not isinstance(stage.app.screen, ReportScreen)
        assert len(library.entries()) == 1


async def test_a_run_that_cannot_be_kept_behind_another_screen_is_said(tmp_path):
    (tmp_path / "runs").write_text("a file, and no folder")
    async with staged(library=Library(tmp_path / "runs"), num_kv_blocks=4096) as stage:
        await stage.press("k")
        await play(stage)
        told = [notice.message for notice in stage.app._notifications]
    assert told[0] == "straggler is over: r on the live screen shows its report"
    assert told[1].startswith("the run was not kept: ")
    assert "cannot be made: File exists" in told[1]


async def test_what_goes_wrong_behind_another_screen_is_not_lost(tmp_path, monkeypatch):
    def fail(*arguments):
        raise RuntimeError("a mistake of ours")

    monkeypatch.setattr("tuiapp.screens.run_reports.open_live", fail)
    with pytest.raises(WorkerFailed, match="a mistake of ours"):
        await play_behind_another_screen(Library(tmp_path))


async def play_behind_another_screen(library):
    async with staged(library=library, num_kv_blocks=4096) as stage:
        await stage.press("k")
        await play(stage)


async def test_a_run_that_is_not_over_is_not_kept(tmp_path):
    library = Library(tmp_path)
    async with staged(library=library, num_kv_blocks=4096) as stage:
        await play(stage, num_passes=40)
        await stage.press("r")
        assert "It is not over" in screen_text(stage.app)
        assert library.entries() == []


async def test_the_next_engine_that_a_claim_needs_is_one_key_away():
    async with staged(num_kv_blocks=4096) as stage:
        await play(stage, "static")
        await stage.press("n")
        assert stage.app.session.settings.batcher is BatcherName.DYNAMIC
        assert isinstance(stage.app.screen, LiveScreen)


async def test_enter_inspects_the_chosen_request_and_g_goes_to_the_pass_of_its_gap():
    async with staged(num_kv_blocks=4096) as stage:
        await play(stage, "continuous")
        await stage.press("down", "enter")
        assert isinstance(stage.app.screen, InspectScreen)
        assert "late-short-7" in screen_text(stage.app)
        await stage.press("escape", "g")
        assert isinstance(stage.app.screen, LiveScreen)
        assert "◀ pass 18 of 500" in screen_text(stage.app)


async def test_where_there_is_no_gap_g_says_so():
    async with staged(num_kv_blocks=4096) as stage:
        await play(stage, "static")
        await stage.press("g")
        (notice,) = stage.app._notifications
        assert notice.message == "There is no gap between two tokens"


async def test_a_report_is_exported_and_the_path_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with staged(num_kv_blocks=4096) as stage:
        await play(stage, "static")
        await stage.press("j", "v", "h", "j")
        told = [notice.message for notice in stage.app._notifications]
    names = [f"batchscope-report-straggler{end}" for end in (".json", ".csv", ".html", "-2.json")]
    assert told == [f"Saved {tmp_path / each}" for each in names]
    run = json.loads((tmp_path / names[0]).read_text())["runs"][0]
    assert (run["variant"], run["simulated"]) == ("static", True)
    assert "straggler,static,true,,num_completed,16" in (tmp_path / names[1]).read_text()
    assert (tmp_path / names[2]).read_text().startswith("<!doctype html>")


async def test_a_report_that_cannot_be_written_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Path, "write_text", full_disk)
    async with staged(num_kv_blocks=4096) as stage:
        await play(stage, "static")
        await stage.press("j")
        (notice,) = stage.app._notifications
    assert notice.message == "Not saved: [Errno 28] No space left on device"


def full_disk(path, *arguments):
    raise OSError(28, "No space left on device")


async def test_a_lesson_is_not_interrupted_by_a_report():
    async with staged(num_kv_blocks=4096) as stage:
        await stage.press("l", "enter", "2")
        for _ in range(110):
            stage.backend.run(10)
            stage.app.screen.poll()
        await stage.settle()
        assert not isinstance(stage.app.screen, (ReportScreen, LessonsScreen))
        assert not stage.app._notifications
