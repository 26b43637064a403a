"""Pictures from the command line: any screen, the same bytes every time."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import pytest
from textual.screen import Screen
from typer.testing import CliRunner

import tuiapp.screens
from engine.events import Step
from engine.recording import Recording
from tests.recording.builders import record, run_crowd
from tests.tui.goldens import screen_text
from tests.tui.stage import mixed_traffic, staged
from tuiapp.cli.looks import SCREENS
from tuiapp.cli.main import app
from tuiapp.library.library import Library
from tuiapp.screens.choosing import ChoosingScreen
from tuiapp.screens.confirm import ConfirmScreen
from tuiapp.screens.dialog import Dialog
from tuiapp.screens.failure import FailureScreen
from tuiapp.screens.moments import MomentsScreen
from tuiapp.screens.playback import PlaybackScreen
from tuiapp.screens.replay import ReplayScreen
from tuiapp.screens.run_pair import RunPairScreen
from tuiapp.shot.frame import Moment, read_moment, read_size
from tuiapp.shot.shoot import run_to
from tuiapp.shot.views import VIEWS

EXTENDED_ONLY = {ChoosingScreen, Dialog, MomentsScreen}
NOT_TAKEN = {
    ConfirmScreen: "asks about a run that is about to be deleted",
    FailureScreen: "tells of a pass that failed, and what is taken here does not fail",
    PlaybackScreen: "is the live screen of a recording, which is taken by the recording's name",
    ReplayScreen: "is the same, over the live screen",
    RunPairScreen: "shows two runs of the library that were marked",
}
STRAGGLER = str(Path(__file__).parent / "presets" / "straggler.toml")


def shot(*arguments):
    return CliRunner().invoke(app, ["shot", *map(str, arguments)])


@pytest.mark.parametrize(
    ("text", "moment"),
    [("196", Moment(196)), ("3.5s", Moment(time=3.5)), (" 2s", Moment(time=2.0)), ("0", Moment(0))],
)
def test_a_moment_is_a_number_of_passes_or_seconds(text, moment):
    assert read_moment(text) == moment


def test_a_size_is_columns_and_lines():
    assert read_size("80x24") == (80, 24)
    assert read_size("400×120") == (400, 120)


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        (["--at", "soon"], "--at: must be a number of passes such as 196, or seconds"),
        (["--size", "huge"], "--size: must be columns x lines, such as 120x36; got 'huge'"),
        (["--size", "79x24"], "--size: must be from 80x24 to 400x120; got 79x24"),
        (["--size", "80x121"], "--size: must be from 80x24 to 400x120; got 80x121"),
        (["--screen", "inspekt"], "no screen is called 'inspekt'; did you mean 'inspect'?"),
        (["--theme", "ligth"], "no theme is called 'ligth'; did you mean 'light'?"),
        (["-o", "x.png"], "chromium --headless --screenshot=x.png x.svg"),
        (["-o", "x.gif"], "must end in .svg or .txt, got 'x.gif'"),
        (["-o", "no/such/folder/x.svg"], "no/such/folder/x.svg: cannot be written: No such file"),
        (["--variant", "statik"], "no variant called 'statik'; did you mean 'static'?"),
    ],
)
def test_what_cannot_be_taken_is_said_in_one_line(flags, problem):
    result = shot(STRAGGLER, "--at", "3", *flags)
    assert result.exit_code == 2
    assert problem in result.stderr


def test_the_same_command_gives_the_same_bytes(tmp_path):
    paths = [tmp_path / name for name in ("a.svg", "b.svg")]
    for path in paths:
        result = shot(STRAGGLER, "--at", "2.5s", "--screen", "inspect", "-o", path)
        assert result.exit_code == 0, result.output
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert "straggler" in paths[0].read_text()


def test_a_shot_is_of_the_moment_that_was_asked_for():
    text = shot(STRAGGLER, "--variant", "static", "--at", "100", "--size", "80x24").stdout
    assert "static" in text.splitlines()[0]
    assert len(text.splitlines()) == 24
    assert "pass 100 · 1.2 s · linear cost simulated" in shot(STRAGGLER, "--at", "100").stdout
    assert " · 2.0 s · " in shot(STRAGGLER, "--at", "2s").stdout


@pytest.mark.parametrize("moment", ["999s", "9999"])
def test_a_moment_behind_the_end_of_a_run_is_said_to_be_its_end(moment):
    result = shot(STRAGGLER, "--at", moment)
    assert result.exit_code == 0
    assert "pass 500 · " in result.stdout
    assert result.stderr == (
        "batchscope: the run ends at simulated 6.0 s, after 500 passes; this is its end\n"
    )


def test_the_report_of_a_run_that_is_over_is_of_all_of_it():
    text = shot(STRAGGLER, "--at", "9999", "--screen", "report").stdout
    assert "batchscope   report" in text
    assert "16 of 16 requests were answered in full" in text


@pytest.mark.parametrize("moment", ["500", "2s"])
def test_nothing_is_said_of_a_moment_within_the_run(moment):
    assert shot(STRAGGLER, "--at", moment).stderr == ""


def test_ascii_and_a_light_theme_can_be_asked_for(tmp_path):
    assert shot(STRAGGLER, "--at", "9", "--ascii").stdout.isascii()
    path = tmp_path / "light.svg"
    assert shot(STRAGGLER, "--at", "9", "--theme", "light", "-o", path).exit_code == 0
    assert "#ffffff" in path.read_text().lower()


def test_a_recording_is_shown_at_the_pass_that_was_asked_for(tmp_path):
    path = record(tmp_path / "run.jsonl", run_crowd(60)).path
    text = shot(path, "--at", "40").stdout
    assert "pass 40 · " in text
    assert "replay of run.jsonl" in text
    assert " · 12.0 s · " in shot(path, "--at", "12s").stdout


@pytest.mark.parametrize("moment", ["9999", "999s"])
def test_a_moment_behind_the_end_of_a_recording_is_said_to_be_its_end(tmp_path, moment):
    path = record(tmp_path / "run.jsonl", run_crowd(60)).path
    last = [event for event in Recording(path).events() if isinstance(event, Step) and event.rows][
        -1
    ]
    assert shot(path, "--at", moment).stderr == (
        f"batchscope: the recording ends at simulated {last.time:.1f} s, after 60 passes; "
        "this is its end\n"
    )


def test_a_recording_that_is_damaged_is_no_picture(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text("no header\n")
    result = shot(path)
    assert result.exit_code == 2
    assert "this is no recording of batchscope" in result.stderr


@pytest.mark.slow
def test_a_model_that_really_runs_is_said_to_be_on_simulated_time():
    text = shot(STRAGGLER, "--at", "30", "--device", "cpu").stdout
    assert "0.4 s · tiny simulated" in text


def screens_of_the_app():
    """Every screen that the app can show."""
    for module in pkgutil.iter_modules(tuiapp.screens.__path__, "tuiapp.screens."):
        importlib.import_module(module.name)
    found, left = set(), [Screen]
    while left:
        left += (kind := left.pop()).__subclasses__()
        if kind.__module__.startswith("tuiapp.") and kind not in EXTENDED_ONLY:
            found.add(kind)
    return found


def test_every_screen_of_the_app_can_be_taken_or_is_known_not_to():
    taken = {view.screen for view in VIEWS.values()}
    assert screens_of_the_app() - taken == set(NOT_TAKEN)
    assert not taken & set(NOT_TAKEN)


def test_the_help_names_the_screens_that_there_are():
    assert tuple(sorted(SCREENS)) == tuple(sorted(VIEWS))
    assert set(SCREENS) <= set(re.findall(r"\w+", shot("--help").stdout))


@pytest.mark.parametrize("name", VIEWS)
async def test_every_screen_that_can_be_named_opens_one(name, tmp_path):
    async with staged((120, 36), mixed_traffic, library=Library(tmp_path)) as stage:
        await stage.run(120)
        before = screen_text(stage.app)
        if VIEWS[name].keys:
            await stage.press(*VIEWS[name].keys)
            assert screen_text(stage.app) != before
        assert type(stage.app.screen) is VIEWS[name].screen


def test_a_comparison_is_run_to_its_end_and_gives_the_same_bytes(tmp_path):
    paths = [tmp_path / name for name in ("a.txt", "b.txt")]
    for path in paths:
        result = shot(STRAGGLER, "--screen", "compare", "-o", path)
        assert (result.exit_code, result.stderr) == (0, "")
    assert paths[0].read_bytes() == paths[1].read_bytes()
    text = paths[0].read_text()
    assert "▚ compare   ‖ finished" in text
    assert "straggler · the same 16 requests · simulated" in text
    assert "3 of the preset's 3 claims hold" in text


def test_a_comparison_is_shown_at_the_second_that_was_asked_for():
    text = shot(STRAGGLER, "--screen", "compare", "--at", "2.5s").stdout
    assert "▚ compare   ◀ 2.50 s" in text
    assert "◇" in shot(STRAGGLER, "--screen", "ghost").stdout


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        (["--screen", "compare", "--at", "196"], "--at: must be seconds such as 3.5s: each lane"),
        (["--screen", "inspect", "--at", "0s"], "nobody runs or waits at that moment"),
    ],
)
def test_a_screen_that_has_nothing_to_show_is_said_in_one_line(flags, problem):
    result = shot(STRAGGLER, *flags)
    assert result.exit_code == 2
    assert problem in result.stderr


def test_a_moment_behind_the_end_of_all_lanes_is_said_to_be_their_end():
    result = shot(STRAGGLER, "--screen", "compare", "--at", "999s")
    assert "‖ finished" in result.stdout
    assert re.search(r"the last lane ends at simulated [\d.]+ s; these are", result.stderr)


def test_there_is_no_comparison_of_a_recording(tmp_path):
    path = record(tmp_path / "run.jsonl", run_crowd(60)).path
    result = shot(path, "--screen", "compare")
    assert result.exit_code == 2
    assert "it needs an engine, and a recording has none: name a preset" in result.stderr


def test_the_kept_runs_can_be_taken(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    text = shot(STRAGGLER, "--screen", "runs").stdout
    assert "No run was kept yet" in text
    assert not list(tmp_path.rglob("*.jsonl"))


async def test_a_run_that_is_over_stays_at_its_end():
    async with staged((80, 24), mixed_traffic) as stage:
        run_to(stage.backend, Moment(100_000))
        assert not stage.backend.core.has_work
        end = stage.backend.now()
        run_to(stage.backend, Moment(time=end + 7))
        assert stage.backend.now() == pytest.approx(end + 7)


def test_the_report_of_a_recording_is_that_of_all_of_it(tmp_path):
    path = record(tmp_path / "run.jsonl", run_crowd(400)).path
    text = shot(path, "--at", "40", "--screen", "report").stdout
    assert "20 of 20 requests were answered in full" in text
    assert "so far" not in text
