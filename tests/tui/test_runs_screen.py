"""The runs that were kept: how the list looks, and what its keys do."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from engine.config import ConfigError
from engine.events import Keyframe, Ready
from engine.request import Request, SamplingParams
from tests.library.builders import WHEN, findings_of, keep
from tests.tui.goldens import check_screen, screen_text
from tests.tui.stage import SIZES, StageBackend, mixed_traffic, staged
from tuiapp.lanes import tell_verdict
from tuiapp.lanes.kept import open_kept
from tuiapp.library.library import Library
from tuiapp.screens.compare import CompareScreen
from tuiapp.screens.confirm import ConfirmScreen
from tuiapp.screens.inspect import InspectScreen
from tuiapp.screens.live import LiveScreen
from tuiapp.screens.replay import ReplayScreen
from tuiapp.screens.report import ReportScreen
from tuiapp.screens.run_pair import RunPairScreen
from tuiapp.screens.runs import RunsScreen

pytestmark = pytest.mark.usefixtures("in_folder")
sizes = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")


def name(state, size):
    return f"{state}-{size[0]}x{size[1]}"


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def library(in_folder) -> Library:
    """A static, a dynamic and a continuous run, an hour apart, and a file that is no run."""
    library = Library(Path("runs"))
    for hours, variant in enumerate(("static", "dynamic", "continuous")):
        keep(library, variant, WHEN + timedelta(hours=hours))
    (library.folder / "notes.jsonl").write_text("[/b] not a run\n")
    return library


@sizes
async def test_runs(size, library):
    async with staged(size, mixed_traffic, library=library) as stage:
        await stage.run(100)
        await stage.press("o", "space", "down")
        check_screen(stage.app, name("runs", size))
        await stage.press("end")
        check_screen(stage.app, name("runs-problem", size))


@sizes
async def test_two_runs(size, library):
    async with staged(size, library=library) as stage:
        await stage.press("o", "space", "down", "down", "space", "c")
        assert isinstance(stage.app.screen, RunPairScreen)
        check_screen(stage.app, name("runs-pair", size))


@sizes
async def test_lanes_of_kept_runs(size, library):
    async with staged(size, library=library) as stage:
        await stage.press("o", "space", "down", "down", "space", "l")
        assert isinstance(stage.app.screen, CompareScreen)
        await stage.settle()
        check_screen(stage.app, name("runs-lanes", size))


async def test_kept_runs_are_scrubbed_and_laid_over_each_other_but_not_run_again(library):
    async with staged(library=library) as stage:
        await stage.press("o", "space", "down", "space", "down", "space", "l")
        screen = stage.app.screen
        assert [lane.name for lane in screen.view.lanes] == ["static", "dynamic", "continuous"]
        await stage.press("home", "right")
        assert "◀" in screen_text(stage.app)
        await stage.press("g")
        assert "continuous over the ghost of static" in screen_text(stage.app)
        assert "continuous answers 16 of 16 requests sooner" in screen_text(stage.app)
        await stage.press("r", "e", "w", "v")
        assert stage.app.screen is screen
        await stage.press("enter")
        assert isinstance(stage.app.screen, InspectScreen)
        await stage.press("escape", "escape")
        assert isinstance(stage.app.screen, RunsScreen)


async def test_the_table_of_two_runs_leads_to_their_lanes(library):
    async with staged(library=library) as stage:
        await stage.press("o", "space", "down", "c", "l")
        assert isinstance(stage.app.screen, CompareScreen)


async def test_a_run_of_another_preset_is_minded(library):
    entries = [entry for entry in library.entries() if not entry.problem][:2]
    about = {**entries[0].about, "preset": "another", "seed": 9}
    comparison = open_kept([replace(entries[0], about=about), entries[1]])
    comparison.poll()
    told = str(tell_verdict(comparison))
    assert told.endswith("Mind: different presets, different seeds.")


async def test_a_run_whose_beginning_was_forgotten_is_no_lane(library):
    backend = StageBackend()
    backend.submit(Request("before", (1,) * 8, SamplingParams(max_tokens=400)))
    backend.run(300)
    backend.submit(Request("after", (1,) * 8, SamplingParams(max_tokens=4)))
    backend.run(20)
    events, _ = backend.log.since(0)
    begin = max(at for at, event in enumerate(events) if isinstance(event, Keyframe))
    ready = Ready(0.0, backend.core.info)
    kept = library.keep(findings_of()[0], (ready, *events[begin:]), WHEN + timedelta(hours=9))
    entries = {entry.path: entry for entry in library.entries()}
    with pytest.raises(ConfigError, match="it begins in the middle of a run"):
        open_kept([entries[kept.path], library.entries()[1]])


async def test_a_run_that_cannot_be_read_is_told(library):
    async with staged(library=library) as stage:
        await stage.press("o", "space", "down", "space")
        path = library.entries()[0].path
        path.write_text(path.read_text().splitlines()[0] + "\n[/b] damaged\n")
        await stage.press("l")
        assert isinstance(stage.app.screen, RunsScreen)
        assert any("damaged" in n.message or "line" in n.message for n in stage.app._notifications)


async def test_an_error_of_ours_is_not_taken_for_a_library_that_is_being_read(library, monkeypatch):
    monkeypatch.setattr(library, "entries", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        async with staged(library=library) as stage:
            await stage.press("o")


@sizes
async def test_no_runs(size):
    async with staged(size, library=Library(Path("runs"))) as stage:
        await stage.press("o")
        check_screen(stage.app, name("runs-empty", size))


async def test_the_filter_shows_what_has_every_word(library):
    async with staged(library=library) as stage:
        await stage.press("o", "slash", *"STAT sim", "enter")
        text = screen_text(stage.app)
        assert "straggler static" in text
        assert "straggler dynamic" not in text
        await stage.press("escape")
        assert isinstance(stage.app.screen, RunsScreen)
        assert "straggler dynamic" in screen_text(stage.app)
        await stage.press("slash", *"zzz")
        assert "Nothing matches." in screen_text(stage.app)
        await stage.press("escape", "escape")
        assert isinstance(stage.app.screen, LiveScreen)


async def test_enter_opens_the_report_and_it_leads_to_the_pass_of_the_worst_gap(library):
    async with staged(library=library) as stage:
        await stage.press("o", "enter")
        assert isinstance(stage.app.screen, ReportScreen)
        assert "straggler (continuous)" in screen_text(stage.app)
        await stage.press("g")
        replay = stage.app.screen
        assert isinstance(replay, ReplayScreen)
        await stage.until(lambda: replay.newest.num_passes == 18)
        await stage.press("escape")
        assert isinstance(stage.app.screen, RunsScreen)


async def test_p_replays_a_run_over_the_engine_which_is_there_again_afterwards(library):
    async with staged((120, 36), mixed_traffic, library=library) as stage:
        await stage.run(20)
        await stage.press("o", "p")
        replay = stage.app.screen
        assert isinstance(replay, ReplayScreen)
        await stage.until(lambda: replay.newest.info is not None)
        replay.draw_all()
        await stage.pilot.pause()
        assert "replay of 2026" in screen_text(stage.app)
        actions = {each.binding.action for each in replay.active_bindings.values()}
        assert "leave" in actions
        assert "burst" not in actions
        await stage.press("escape", "escape")
        assert "pass 20 · " in screen_text(stage.app)


@sizes
async def test_a_replay(size, library):
    async with staged(size, library=library) as stage:
        await stage.press("o", "enter", "g")
        replay = stage.app.screen
        assert isinstance(replay, ReplayScreen)
        await stage.until(lambda: replay.newest.num_passes == 18)
        for width in (size[0] - 9, size[0]):  # what came in the last of its frames is told no more
            await stage.pilot.resize_terminal(width, size[1])
            await stage.pilot.pause()
            replay.draw_all()
        await stage.pilot.pause()
        check_screen(stage.app, name("replay", size))


@sizes
async def test_a_question_before_something_is_lost(size, library):
    async with staged(size, library=library) as stage:
        await stage.press("o", "d")
        check_screen(stage.app, name("confirm", size))


async def test_a_run_is_deleted_only_by_y(library):
    async with staged(library=library) as stage:
        await stage.press("o", "d")
        assert isinstance(stage.app.screen, ConfirmScreen)
        assert "Delete 20260504-143015-straggler-continuous.jsonl" in screen_text(stage.app)
        await stage.press("n")
        assert len(library.entries()) == 4
        await stage.press("d", "y")
        await stage.settle()
        assert len(library.entries()) == 3
        assert "straggler continuous" not in screen_text(stage.app)


async def test_what_is_no_run_is_not_opened_but_can_be_deleted(library):
    async with staged(library=library) as stage:
        await stage.press("o", "end", "enter")
        (notice,) = stage.app._notifications
        assert notice.message.startswith("It cannot be opened: this is no recording")
        await stage.press("p", "space", "c", "d", "y")
        assert "notes" not in [entry.name for entry in library.entries()]


async def test_a_run_that_is_damaged_further_on_is_said_when_it_is_opened(library):
    path = library.entries()[0].path
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:40], b"oops\n", *lines[41:]]))
    async with staged(library=library) as stage:
        await stage.press("o", "enter")
        text = screen_text(stage.app)
        assert isinstance(stage.app.screen, ReportScreen)
        assert "this is no record: 'oops'" in text
        await stage.press("escape", "escape")


async def test_one_run_has_nothing_to_be_compared_with(library):
    async with staged(library=library) as stage:
        await stage.press("o", "c")
        (notice,) = stage.app._notifications
        assert notice.message == "Mark two runs that have a report with space first"


async def test_where_no_runs_are_kept_the_key_says_so():
    async with staged() as stage:
        await stage.press("o")
        (notice,) = stage.app._notifications
        assert notice.message == "No runs are kept here"
