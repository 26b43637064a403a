"""The panel of knobs and the command lines, under their keys."""

from __future__ import annotations

from textual.widgets import Static

from engine.settings import BatcherName, KvPolicy
from tests.tui.goldens import screen_text
from tests.tui.stage import mixed_traffic, staged
from tuiapp.knobs import list_knobs, read_systems
from tuiapp.screens.commands import CommandsScreen
from tuiapp.screens.knobs import KnobsScreen
from tuiapp.screens.live import LiveScreen
from tuiapp.widgets.lines import StoryLine


def settings(stage):
    return stage.backend.core.settings


def text_of(stage, selector):
    return str(stage.app.screen.query_one(selector, Static).render())


async def test_arrows_turn_a_knob_of_the_running_engine():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(20)
        await stage.press("k", "right")
        assert isinstance(stage.app.screen, KnobsScreen)
        assert settings(stage).max_num_seqs == 16
        await stage.run(1)
        assert len(stage.app.screen_stack[0].snapshot.slots) == 16
        await stage.press("left", "left")
        assert settings(stage).max_num_seqs == 4
        await stage.press("escape")
        assert isinstance(stage.app.screen, LiveScreen)


async def test_it_opens_at_the_batchers_own_knob_and_then_where_it_was_left():
    for batcher, first in (("static", "max_batch_size"), ("continuous", "max_num_seqs")):
        async with staged(batcher=BatcherName(batcher)) as stage:
            await stage.press("k")
            assert text_of(stage, "#details").startswith(first)
            await stage.press("down", "down", "escape", "k", "up")
            left = [knob.name for knob in list_knobs()].index(first) + 1
            assert text_of(stage, "#details").startswith(list_knobs()[left].name)


async def test_a_typed_value_is_applied_and_the_panel_stays():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.press("k", "enter", "backspace", "1", "2", "enter")
        assert settings(stage).max_num_seqs == 12
        assert isinstance(stage.app.screen, KnobsScreen)


async def test_an_error_stands_beside_the_field_and_nothing_changes():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.press("k", "enter", "backspace", "0", "enter")
        assert text_of(stage, "#problem") == "must be at least 1, got 0"
        assert settings(stage).max_num_seqs == 8
        await stage.press("escape")
        assert text_of(stage, "#problem") == "a whole number, 1 to 4,096"
        assert isinstance(stage.app.screen, KnobsScreen)
        await stage.press("escape")
        assert isinstance(stage.app.screen, LiveScreen)


async def test_a_notch_that_the_other_settings_forbid_says_why():
    async with staged(max_num_batched_tokens=8) as stage:
        await stage.press("k", "right")
        assert "decodes would starve" in text_of(stage, "#problem")
        assert settings(stage).max_num_seqs == 8


async def test_m_in_the_panel_says_what_is_the_same_and_what_is_not():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.press("k", "m")
        orca = read_systems()[0]
        assert settings(stage).kv_policy is KvPolicy.RESERVE
        shown = " ".join(text_of(stage, "#system").split())
        assert orca.same in shown
        assert orca.differs in shown


async def test_m_on_the_live_screen_goes_round_and_the_story_tells():
    async with staged(traffic=mixed_traffic) as stage:
        for system in read_systems():
            await stage.press("m")
            story = str(stage.app.screen.query_one(StoryLine).render())
            assert story == f"▸ As {system.name}: {system.story}."
            await stage.run(5)
        assert settings(stage).batcher is BatcherName.STATIC


async def test_news_of_a_switch_gives_way_to_what_can_be_seen():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.press("m")
        stage.backend.clock.sleep(9)
        await stage.run(3)
        assert "As orca" not in str(stage.app.screen.query_one(StoryLine).render())


async def test_y_shows_command_lines_and_enter_copies_one():
    async with staged() as stage:
        await stage.press("k", "y")
        assert isinstance(stage.app.screen, CommandsScreen)
        assert "vllm serve MODEL --max-num-seqs 8" in screen_text(stage.app)
        await stage.press("down", "enter")
        assert stage.app.clipboard.startswith("python -m sglang.launch_server --model-path MODEL")
        await stage.press("escape")
        assert isinstance(stage.app.screen, KnobsScreen)
