"""What the live screen says and does while a model loads."""

from __future__ import annotations

from contextlib import asynccontextmanager

import pytest

from engine.backends.still import StillBackend
from engine.events import Failed
from engine.loading import Loading, LoadingCancelledError, LoadStage, LoadStep
from engine.runners.parts import ModelSpec
from engine.settings import EngineSettings
from tests.tui.goldens import check_screen, screen_text
from tests.tui.stage import SIZES
from tuiapp.app import Playground
from tuiapp.session import Session
from tuiapp.shot.stage import set_stage


@asynccontextmanager
async def loading(size, step):
    """A screen whose engine has come so far, and no further."""
    progress = Loading()
    progress.report(step)
    session = Session(StillBackend(()), EngineSettings(), spec=ModelSpec(), loading=progress)
    async with set_stage(Playground(session), size, has_toasts=True) as stage:
        await stage.settle()
        yield stage


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_tensors_that_were_read_are_counted(size):
    async with loading(size, LoadStep(LoadStage.WEIGHTS, 136, 272)) as stage:
        assert "reading weights, 136 of 272 tensors" in screen_text(stage.app)
        check_screen(stage.app, f"live-loading-{size[0]}x{size[1]}")


@pytest.mark.parametrize("keys", [("q",), ("ctrl+q",), ("ctrl+c", "ctrl+c")])
async def test_leaving_meanwhile_says_at_once_what_has_to_end_first(keys):
    async with loading((120, 36), LoadStep(LoadStage.IMPORT)) as stage:
        await stage.pilot.press(*keys)
        await stage.pilot.pause()
        assert stage.app.return_code == 0
        [message] = stage.app._exit_renderables
        assert message == "Stopping once this is done: importing torch and transformers"
        with pytest.raises(LoadingCancelledError):
            stage.app.session.loading.report(LoadStep(LoadStage.FIND))


async def test_a_stage_without_a_count_is_named():
    async with loading((120, 36), LoadStep(LoadStage.IMPORT)) as stage:
        assert "Loading tiny: importing torch and transformers" in screen_text(stage.app)


async def test_a_load_that_fails_ends_with_what_can_be_done():
    progress = LoadStep(LoadStage.WEIGHTS)
    async with loading((120, 36), progress) as stage:
        failed = Failed(1.0, "OutOfMemoryError: 16 GiB did not fit", is_fatal=True)
        stage.app.session.backend.log.append(failed)
        stage.live.draw_all()
        assert stage.app.return_code == 1
        [message] = stage.app._exit_renderables
        assert "16 GiB did not fit" in str(message)
        assert "batchscope --model tiny --device cpu" in str(message)
