"""Every text that names a key names the one that is in force."""

from __future__ import annotations

from tests.tui.goldens import screen_text
from tests.tui.stage import mixed_traffic, staged
from tuiapp.keys import Keys, show_key
from tuiapp.preferences import Found, Preferences
from tuiapp.screens.help import HelpScreen
from tuiapp.screens.knobs import KnobsScreen
from tuiapp.screens.live import LiveScreen

OWN = {
    "burst": "f5",
    "continuous": "z",
    "follow": "ctrl+f",
    "help": "f1",
    "knobs": "f2,K",
    "system": "f3",
}


def own_keys(**looks):
    return Found(Preferences(keys=OWN, **looks))


def test_keys_are_shown_as_people_read_them():
    assert [show_key(key) for key in ("question_mark", "shift+left", "f5", "enter")] == [
        "?",
        "shift+←",
        "f5",
        "⏎",
    ]
    assert show_key("shift+left", is_ascii=True) == "shift+Left"


def test_of_several_keys_the_first_is_named():
    assert Keys({"faster": "plus,equals_sign"})["faster"] == "+"
    assert Keys({"inspect": "enter"}, is_ascii=True)["inspect"] == "Enter"


async def test_the_story_and_the_footer_name_a_key_of_ones_own():
    async with staged(own=own_keys()) as stage:
        shown = screen_text(stage.app)
        assert "Nothing to do: f5 sends a burst, i one request" in shown
        assert "1/2/z Batcher" in shown
        assert "f5 Burst" in shown
        assert "f1 Help" in shown


async def test_help_lists_the_keys_of_ones_own():
    async with staged(own=own_keys()) as stage:
        await stage.press("f1")
        assert isinstance(stage.app.screen, HelpScreen)
        shown = screen_text(stage.app)
        assert "f5  Burst" in shown
        assert "f2 K  Knobs" in shown
        await stage.press("f1")
        assert isinstance(stage.app.screen, LiveScreen)


async def test_the_key_that_opened_a_panel_closes_it():
    async with staged(own=own_keys()) as stage:
        await stage.press("f2")
        assert isinstance(stage.app.screen, KnobsScreen)
        assert "f3 goes through" in screen_text(stage.app)
        assert "f3 named system" in screen_text(stage.app)
        await stage.press("K")
        assert isinstance(stage.app.screen, LiveScreen)


async def test_toasts_name_the_keys_of_ones_own():
    async with staged(traffic=mixed_traffic, own=own_keys(ascii=True)) as stage:
        await stage.run(3)
        await stage.press("x", "end", "right")
        told = [each.message for each in stage.app._notifications]
        assert told == [
            "Select a request with Up and Down first; X aborts them all",
            "Pass 3 is the newest; ctrl+f follows the engine again",
        ]
