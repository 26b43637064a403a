"""A user's own looks and keys on the screen."""

from __future__ import annotations

from engine.config import ConfigError
from tests.tui.goldens import screen_text
from tests.tui.stage import mixed_traffic, staged
from tuiapp.preferences import Found, Preferences
from tuiapp.screens.inject import InjectScreen
from tuiapp.screens.live import LiveScreen
from tuiapp.screens.live_keys import BINDINGS, KEYS
from tuiapp.widgets.token_pane import TokenPane


def test_every_action_has_a_name_of_its_own():
    assert len(KEYS) == len(BINDINGS)


async def test_a_key_of_ones_own_does_it_and_the_usual_one_nothing():
    own = Found(Preferences(keys={"inject": "j"}))
    async with staged(own=own) as stage:
        assert "j Inject" in screen_text(stage.app)
        await stage.press("i")
        assert isinstance(stage.app.screen, LiveScreen)
        await stage.press("j")
        assert isinstance(stage.app.screen, InjectScreen)


async def test_theme_and_panes_are_as_wanted():
    async with staged(traffic=mixed_traffic, own=Found(Preferences("light", panes=4))) as stage:
        await stage.run(30)
        assert stage.app.theme == "batchscope-light"
        assert [pane.display for pane in stage.app.query(TokenPane)] == [True] * 4 + [False] * 4


async def test_what_is_wrong_with_the_file_is_told():
    problem = ConfigError("unknown key; did you mean 'theme'?", ("them",), "config.toml:3")
    async with staged(own=Found(Preferences(), (problem,))) as stage:
        assert [each.message for each in stage.app._notifications] == [
            "config.toml:3: them: unknown key; did you mean 'theme'?"
        ]
