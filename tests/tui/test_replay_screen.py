"""A recording on the live screen."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager

import pytest

from engine import record as engine_record
from engine.backends.replay import ReplayBackend
from engine.recording import Recording, RecordingError
from tests.recording.builders import record, run_crowd
from tests.tui.goldens import screen_text
from tests.tui.stage import StageBackend, mixed_traffic
from tuiapp.app import Playground
from tuiapp.library.replaying import replay_session
from tuiapp.running.tap import Tap
from tuiapp.screens.live import LiveScreen
from tuiapp.session import Session


@pytest.fixture
def recording(tmp_path, monkeypatch) -> Recording:
    monkeypatch.setattr(engine_record, "KEYFRAME_STEPS", 8)
    return record(tmp_path / "run.jsonl", run_crowd(70))


@asynccontextmanager
async def replaying(recording, size=(120, 36)):
    backend = ReplayBackend(recording)
    app = Playground(replay_session(recording, backend))
    backend.pause()
    app.session.is_paused = True
    backend.start()
    try:
        async with app.run_test(size=size, notifications=True) as pilot:
            yield app, pilot
    finally:
        backend.stop()


def live(app) -> LiveScreen:
    screen = app.screen_stack[0]
    assert isinstance(screen, LiveScreen)
    return screen


async def until(app, pilot, condition, seconds=20.0):
    deadline = time.monotonic() + seconds
    while True:
        live(app).draw_all()
        await pilot.pause()
        if condition(live(app).snapshot):
            return live(app).snapshot
        assert time.monotonic() < deadline, "it was not shown in time"
        await asyncio.sleep(0.01)


async def test_the_title_says_that_it_is_a_replay(recording):
    async with replaying(recording) as (app, pilot):
        await until(app, pilot, lambda shown: shown.info is not None)
        text = str(app.screen.query_one("#title").render())
        assert "replay of run.jsonl" in text


async def test_the_footer_names_the_keys_that_go_through_time(recording):
    for width, also in ((80, ""), (120, "  ⏎ Inspect  r Report")):
        async with replaying(recording, (width, 24)) as (app, pilot):
            await until(app, pilot, lambda shown: shown.info is not None)
            await until(app, pilot, lambda _: "space Pause" in screen_text(app))
            assert screen_text(app).splitlines()[-1].strip() == (
                f"space Pause  ←/→ Rewind  n Step  +/- Speed  R Reverse{also}  ? Help  q Quit"
            )


async def test_help_speaks_of_the_playback(recording):
    async with replaying(recording) as (app, pilot):
        await until(app, pilot, lambda shown: shown.info is not None)
        await pilot.press("question_mark")
        await pilot.pause()
        shown = screen_text(app)
        assert "Play faster" in shown
        assert "arrivals" not in shown


async def test_n_plays_a_pass_and_an_arrow_goes_back_beyond_what_was_played(recording):
    async with replaying(recording) as (app, pilot):
        await pilot.press("n", "n", "n")
        await until(app, pilot, lambda shown: shown.num_passes == 3)
        app.session.replay.seek(60.0)
        await until(app, pilot, lambda shown: shown.num_passes == 60)
        await pilot.press("left")
        await until(app, pilot, lambda shown: shown.num_passes == 59)
        await pilot.press("home")
        await until(app, pilot, lambda shown: shown.num_passes == 1)
        await pilot.press("pagedown")
        await until(app, pilot, lambda shown: shown.num_passes == 11)
        await pilot.press("pageup")
        await until(app, pilot, lambda shown: shown.num_passes == 1)


async def test_space_and_plus_play_it_and_play_it_faster(recording):
    async with replaying(recording) as (app, pilot):
        await pilot.press("plus", "plus", "plus", "plus", "space")
        assert (app.session.speed, app.session.is_paused) == (16.0, False)
        await until(app, pilot, lambda shown: shown.num_passes >= 20)


async def test_r_plays_backwards_to_the_beginning_and_space_stops_it(recording):
    async with replaying(recording) as (app, pilot):
        app.session.replay.seek(60.0)
        await until(app, pilot, lambda shown: shown.num_passes == 60)
        await pilot.press("plus", "plus", "plus", "plus", "R")
        await until(app, pilot, lambda shown: shown.num_passes < 50)
        await pilot.press("space", "space")
        here = live(app).snapshot.num_passes
        await pilot.press("R")
        await until(app, pilot, lambda shown: shown.num_passes == 1)
        assert here > 1


async def test_keys_that_would_change_the_run_do_nothing(recording):
    async with replaying(recording) as (app, pilot):
        await pilot.press("n")
        before = await until(app, pilot, lambda shown: shown.num_passes == 1)
        await pilot.press("1", "b", "i", "w", "g", "k", "m", "a", "x", "X")
        await pilot.pause()
        assert len(app.screen_stack) == 1
        after = await until(app, pilot, lambda shown: shown.num_passes == 1)
        assert (after.settings, after.waiting) == (before.settings, before.waiting)
        keys = {each.binding.action for each in app.screen.active_bindings.values()}
        assert "burst" not in keys
        assert "jump(10)" in keys


async def test_a_session_is_recorded_while_it_is_shown(tmp_path):
    backend = StageBackend()
    mixed_traffic(backend)
    path = tmp_path / "run.jsonl"
    tap = Tap(backend.log, path, {})
    app = Playground(Session(backend, backend.core.settings), tap=tap)
    async with app.run_test(size=(120, 36)):
        backend.run(40)
        deadline = time.monotonic() + 20
        while b'["Step",39,' not in path.read_bytes():
            assert time.monotonic() < deadline, "it was not recorded in time"
            await asyncio.sleep(0.02)
        assert "jump(10)" not in {e.binding.action for e in app.screen.active_bindings.values()}
    tap.close()
    assert Recording(path).duration == backend.clock.now()


class FullTap(Tap):
    """A recording for which the disk has no room any more."""

    def drain(self) -> None:
        raise RecordingError("cannot be written: No space left on device", place="run.jsonl")


async def test_a_disk_that_is_full_ends_the_recording_and_not_the_screen(tmp_path):
    backend = StageBackend()
    tap = FullTap(backend.log, tmp_path / "run.jsonl", {})
    app = Playground(Session(backend, backend.core.settings), tap=tap)
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await until(app, pilot, lambda shown: len(app._notifications) > 0)
        app._record()
        await pilot.pause()
        (notice,) = app._notifications
        assert notice.message == (
            "Not recorded from here on: run.jsonl: cannot be written: No space left on device"
        )
    tap._writer.close()
