"""The command palette: all that has a key on the screen, and the themes."""

from __future__ import annotations

from tests.tui.stage import mixed_traffic, staged
from tuiapp.keys import show_key
from tuiapp.screens.live_keys import BINDINGS

HIDDEN = {  # on the live screen of an engine that runs
    "Show all requests again",  # nothing is filtered
    "Ten seconds back",  # of a recording, as the next two
    "Ten seconds on",
    "Play backwards; space stops it",
}


def titles(app):
    return [each.title for each in app.get_system_commands(app.screen)]


async def test_the_palette_has_every_action_of_the_screen_and_the_themes():
    async with staged() as stage:
        shown = titles(stage.app)
        ours = {each.tooltip for each in BINDINGS} - HIDDEN
        themes = {"Theme: dark", "Theme: light", "Theme: high-contrast"}
        assert ours | themes <= {*shown}
        assert "Theme" not in shown
        assert not HIDDEN & {*shown}


async def test_what_was_hidden_is_there_once_it_can_be_done():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(20)
        await stage.press("slash", "r", "1", "enter")
        assert "Show all requests again" in titles(stage.app)


async def test_every_action_of_the_palette_is_that_of_its_key():
    async with staged() as stage:
        found = {each.title: each for each in stage.app.get_system_commands(stage.app.screen)}
        told = {each.tooltip: found[each.tooltip] for each in BINDINGS if each.tooltip in found}
        assert len(told) > 30
        for binding in BINDINGS:
            if binding.tooltip in told:
                command = told[binding.tooltip]
                assert command.help == f"key {show_key(binding.key.partition(',')[0])}"
                assert command.callback.args == (binding.action,)


async def test_a_theme_of_the_palette_is_put_on():
    async with staged() as stage:
        commands = {each.title: each for each in stage.app.get_system_commands(stage.app.screen)}
        commands["Theme: high-contrast"].callback()
        assert stage.app.theme == "batchscope-high-contrast"


async def test_over_a_dialog_the_palette_has_that_dialogs_actions():
    async with staged() as stage:
        await stage.press("i")
        assert "Inject and stay" in titles(stage.app)
        assert "Send requests of your own" not in titles(stage.app)
