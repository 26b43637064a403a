"""Keys that are pressed before there is an engine."""

from __future__ import annotations

from engine.settings import BatcherName
from tests.tui.goldens import screen_text
from tests.tui.stage import staged
from tuiapp.screens.help import HelpScreen
from tuiapp.screens.inject import InjectScreen


def without_engine(backend):
    backend.tokenizer = None


async def test_keys_are_kept_until_there_is_an_engine():
    async with staged(traffic=without_engine) as stage:
        tokenizer = stage.backend.core.tokenizer
        await stage.press("1", "i")
        assert stage.backend.core.settings.batcher is BatcherName.CONTINUOUS
        assert [each.message for each in stage.app._notifications] == [
            "Static batching: as soon as the model is loaded",
            "Send requests of your own: as soon as the model is loaded",
        ]
        stage.backend.tokenizer = tokenizer
        await stage.settle()
        assert stage.backend.core.settings.batcher is BatcherName.STATIC
        assert isinstance(stage.app.screen, InjectScreen)


async def test_what_needs_no_engine_is_done_at_once():
    async with staged(traffic=without_engine) as stage:
        await stage.press("question_mark")
        assert isinstance(stage.app.screen, HelpScreen)


async def test_once_there_is_an_engine_a_key_is_obeyed_at_once():
    async with staged() as stage:
        await stage.press("1")
        assert stage.backend.core.settings.batcher is BatcherName.STATIC
        assert "as soon as the model is loaded" not in screen_text(stage.app)
