"""The command palette: all that has a key on the screen, and the themes."""

from __future__ import annotations

from tests.tui.stage import staged


def titles(app):
    return [each.title for each in app.get_system_commands(app.screen)]


async def test_the_palette_has_the_actions_of_the_screen_and_the_themes():
    async with staged() as stage:
        shown = titles(stage.app)
        assert {"Send requests of your own", "Show some requests only", "Theme: light"} <= {*shown}
        assert "Show all requests again" not in shown
        assert "Theme" not in shown


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
