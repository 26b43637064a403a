"""The live screen under its keys, on a whole engine without a thread."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.events import MouseScrollDown
from textual.widgets import Static

from engine.events import Configured, Delivered, Failed, Finished, Step, Token
from engine.request import FinishReason, Request, SamplingParams
from engine.settings import BatcherName
from tests.tui.goldens import draw, screen_text
from tests.tui.stage import SIZES, mixed_traffic, staged
from tuiapp.presets import list_presets
from tuiapp.screens.compare import CompareScreen
from tuiapp.screens.failure import FailureScreen
from tuiapp.screens.help import HelpScreen
from tuiapp.screens.inject import InjectScreen
from tuiapp.screens.inspect import InspectScreen
from tuiapp.screens.live import REPLAY_ACTIONS, LiveScreen
from tuiapp.screens.picker import PickerScreen
from tuiapp.widgets.timeline import Timeline

PRESETS = Path(__file__).parent / "presets"


def events_of(stage, kind):
    return [event for event in stage.backend.log.since(0)[0] if isinstance(event, kind)]


def settings(stage):
    return stage.backend.core.settings


async def test_1_2_and_3_switch_the_batcher_live():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(20)
        for key, batcher in zip("123", BatcherName, strict=True):
            await stage.press(key)
            assert settings(stage).batcher is batcher
            await stage.run(20)


async def test_the_key_of_the_batcher_in_force_evicts_nobody_and_says_so():
    async with staged(traffic=mixed_traffic, batcher=BatcherName.STATIC) as stage:
        await stage.run(20)
        before = len(events_of(stage, Configured))
        await stage.press("1")
        assert "The batcher is static already" in screen_text(stage.app)
        await stage.run(5)
        assert len(events_of(stage, Configured)) == before
        assert not any(step.preempted for step in events_of(stage, Step))


@pytest.mark.parametrize("keys", ["123", "321", "2131"])
async def test_switching_in_mid_run_loses_and_repeats_no_token(keys):
    async with staged(traffic=mixed_traffic) as stage:
        for key in keys:
            await stage.run(60)
            await stage.press(key)
        stage.backend.flush()
        while stage.backend.core.has_work:
            stage.backend.flush()
            await stage.run(400)
        wanted = {f"r{n}": 6 + n * 53 % 110 for n in range(40)}
        made = dict.fromkeys(wanted, 0)
        delivered = dict.fromkeys(wanted, 0)
        for event in events_of(stage, Token):
            made[event.request_id] += 1
        for event in events_of(stage, Delivered):
            delivered[event.request_id] += event.num_tokens
        assert made == delivered == wanted


async def test_b_sends_two_dozen_requests_that_finish_under_every_batcher():
    for key in "123":
        async with staged() as stage:
            await stage.press(key, "b")
            while stage.backend.core.has_work:
                stage.backend.flush()
                await stage.run(500)
            reasons = [event.reason for event in events_of(stage, Finished)]
            assert reasons == [FinishReason.LENGTH] * 24


async def test_space_pauses_and_n_runs_one_pass():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.press("space")
        assert stage.backend.commands == ["pause"]
        await stage.press("n")
        live = stage.app.screen
        assert live.snapshot.num_passes == 1
        await stage.press("N")
        assert live.snapshot.num_passes == 11
        await stage.press("space")
        assert stage.backend.commands == ["pause", "resume"]


async def test_n_pauses_an_engine_that_runs():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.press("n")
        assert stage.backend.commands == ["pause"]
        assert stage.app.session.is_paused


async def test_plus_and_minus_change_the_speed_of_arrivals_within_bounds():
    async with staged() as stage:
        await stage.press("plus", "plus", "minus", *["minus"] * 9)
        assert stage.backend.commands[:3] == ["speed 2", "speed 4", "speed 2"]
        assert stage.backend.commands[-1] == "speed 0.1"


async def test_g_starts_a_batch_without_company():
    async with staged(batcher=BatcherName.STATIC) as stage:
        stage.backend.submit(Request("alone", (1,) * 8, SamplingParams(max_tokens=3)))
        await stage.run(1)
        assert stage.app.screen.snapshot.num_passes == 0
        await stage.press("g")
        await stage.run(3)
        assert [event.request_id for event in events_of(stage, Finished)] == ["alone"]


async def test_i_injects_what_the_form_says_and_marks_it_as_ones_own():
    async with staged() as stage:
        await stage.press("i")
        assert isinstance(stage.app.screen, InjectScreen)
        await stage.press("tab", *"100", "tab", *"7", "tab", *"3", "enter")
        assert isinstance(stage.app.screen, LiveScreen)
        await stage.run(1)
        views = [view for view in stage.app.screen.snapshot.slots if view]
        assert [(v.id, v.num_prompt_tokens, v.max_tokens) for v in views] == [
            ("u0", 100, 7),
            ("u1", 100, 7),
            ("u2", 100, 7),
        ]
        assert stage.app.session.injector.is_mine("u2")
        assert not stage.app.session.injector.is_mine("r0")


async def test_an_injected_text_is_the_prompt():
    async with staged() as stage:
        await stage.press("i", *"a batch waits", "enter")
        await stage.run(1)
        view = stage.app.screen.snapshot.slots[0]
        assert view.num_prompt_tokens == 3


@pytest.mark.parametrize("wrong", ["0", "x", "", "-3"])
async def test_a_form_that_makes_no_sense_is_not_sent(wrong):
    async with staged() as stage:
        await stage.press("i", "tab", "tab", "backspace", "backspace", *wrong, "enter")
        text = str(stage.app.screen.query_one("#forecast", Static).render())
        if wrong != "x":  # a letter does not even reach the field
            assert "output tokens must be a whole number of at least 1" in text
        assert isinstance(stage.app.screen, InjectScreen)
        await stage.press("escape")
        assert not events_of(stage, Finished)
        assert not stage.backend.core.has_work


async def test_w_plays_a_preset_under_its_settings(monkeypatch):
    monkeypatch.setattr("tuiapp.screens.live.list_presets", lambda: list_presets((PRESETS,)))
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(10)
        await stage.press("w")
        assert isinstance(stage.app.screen, PickerScreen)
        await stage.press("down", "enter")
        assert stage.app.session.workload == "heavy-load"
        assert settings(stage).max_num_seqs == 16
        await stage.run(400)
        assert len(stage.app.screen.snapshot.slots) == 16
        aborted = [e for e in events_of(stage, Finished) if e.reason is FinishReason.ABORT]
        assert len(aborted) == 39  # all of what ran before, but for the one that was done


async def test_c_in_the_picker_compares_the_engines_of_the_highlighted_preset(monkeypatch):
    monkeypatch.setattr("tuiapp.screens.live.list_presets", lambda: list_presets((PRESETS,)))
    async with staged() as stage:
        await stage.press("w", "c")
        assert isinstance(stage.app.screen, CompareScreen)
        assert stage.app.screen.comparison.contest.name == "straggler"
        assert stage.app.session.playing is None


async def test_a_preset_can_be_played_again(monkeypatch):
    monkeypatch.setattr("tuiapp.screens.live.list_presets", lambda: list_presets((PRESETS,)))
    async with staged() as stage:
        for _ in range(2):
            await stage.press("w", "enter")
            await stage.run(600)
            await stage.press("escape")  # leaves the report
        done = [e for e in events_of(stage, Finished) if e.reason is FinishReason.LENGTH]
        assert len(done) == 32
        assert not stage.app.screen.snapshot.num_notices


async def test_arrows_select_and_enter_inspects():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(30)
        await stage.press("down", "down", "enter")
        assert isinstance(stage.app.screen, InspectScreen)
        facts = str(stage.app.screen.query_one("#facts", Static).render())
        assert "state decode" in facts
        await stage.press("escape")
        assert isinstance(stage.app.screen, LiveScreen)


async def test_answers_that_are_over_can_be_chosen_while_they_are_on_the_screen():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(100_000)
        screen = stage.app.screen
        assert not any(screen.snapshot.slots)
        await stage.press("down", "down")
        assert screen._view.selected == screen.snapshot.left[1].id
        await stage.press("enter")
        assert isinstance(stage.app.screen, InspectScreen)


async def test_x_aborts_the_selected_request_and_only_that():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(10)
        await stage.press("x")
        assert not [e for e in events_of(stage, Finished) if e.reason is FinishReason.ABORT]
        chosen = stage.app.screen.snapshot.slots[1].id
        await stage.press("down", "down", "x")
        [aborted] = [e for e in events_of(stage, Finished) if e.reason is FinishReason.ABORT]
        assert aborted.request_id == chosen
        assert chosen == "r1"


async def test_capital_x_aborts_all():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(10)
        await stage.press("X")
        assert not stage.backend.core.has_work
        assert stage.backend.core.queues.pool.num_used == 0


async def test_a_click_on_a_cell_inspects_its_request():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(30)
        await stage.pilot.click(Timeline, offset=(20, 3))
        await stage.settle()
        assert isinstance(stage.app.screen, InspectScreen)


async def test_a_failed_pass_opens_a_modal_and_the_app_stays_usable():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(10)
        stage.backend.runner.fails_next = True
        await stage.run(1)
        assert isinstance(stage.app.screen, FailureScreen)
        assert len([e for e in events_of(stage, Finished) if e.reason is FinishReason.ERROR]) == 8
        await stage.press("escape")
        assert isinstance(stage.app.screen, LiveScreen)
        assert stage.backend.core.queues.pool.num_used == 0
        await stage.press("b")
        await stage.run(20)
        assert stage.app.screen.snapshot.meters.num_busy == 8


async def test_an_engine_that_dies_says_so_and_lets_one_leave():
    async with staged() as stage:
        stage.backend.log.append(Failed(0.0, "KeyError: 7", is_fatal=True))
        await stage.settle()
        assert isinstance(stage.app.screen, FailureScreen)
        assert "KeyError: 7" in draw(stage.app)
        await stage.press("q")
    assert stage.app.return_code == 0


async def test_s_saves_an_svg_where_the_command_was_started(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(30)
        await stage.press("s")
        await stage.press("s")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["batchscope-1.svg", "batchscope-2.svg"]
    assert "<svg" in (tmp_path / "batchscope-1.svg").read_text("utf-8")


async def test_help_names_every_key():
    async with staged((120, 60)) as stage:
        await stage.press("question_mark")
        assert isinstance(stage.app.screen, HelpScreen)
        shown = draw(stage.app)
        for binding in LiveScreen.BINDINGS:
            is_of_replays = binding.action.partition("(")[0] in REPLAY_ACTIONS
            assert ((binding.tooltip or binding.description) in shown) is not is_of_replays


@pytest.mark.parametrize("size", [(79, 24), (80, 23), (40, 10), (5, 2), (1, 1)])
async def test_too_small_a_terminal_gets_one_line_and_the_engine_goes_on(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(40)
        shown = draw(stage.app).split("\n")[: size[1]]
        if size[0] >= 40:
            assert [line.strip() for line in shown if line.strip()] == [
                f"batchscope needs 80×24, now {size[0]}×{size[1]}"
            ]
        assert stage.app.screen.snapshot.num_passes == 40


async def test_a_storm_of_resizes_leaves_the_screen_as_it_was():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(100)
        before = screen_text(stage.app)
        for width, height in [(80, 24), (200, 60), (10, 3), (99, 31), (1, 1), (120, 24), (120, 36)]:
            await stage.pilot.resize_terminal(width, height)
        await stage.settle()
        assert screen_text(stage.app) == before


async def test_text_of_models_is_shown_and_never_obeyed():
    nasty = "[red]x[/red] [@click=app.quit]bye[/] [/b] \x1b[2J\x1b]0;t\x07 "
    nasty += "\u202eabc 日本語 👩\u200d💻 [/"
    async with staged() as stage:
        request = Request("[/b]", (1,) * 4, SamplingParams(max_tokens=50), label="[red]")
        stage.backend.submit(request)
        await stage.run(3)
        stage.backend.log.append(Token(stage.backend.now(), "[/b]", 1, nasty))
        stage.backend.log.append(Failed(0.0, nasty))
        await stage.settle()
        await stage.press("escape", "enter")
        shown = draw(stage.app)
        assert "[red]x[/red] [@click=app.quit]bye[/] [/b]" in shown.replace("\n", " ")
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert isinstance(stage.app.screen, InspectScreen)


async def test_with_more_slots_than_rows_the_wheel_reaches_the_others():
    async with staged(traffic=mixed_traffic, max_num_seqs=40) as stage:
        await stage.run(10)
        timeline = stage.app.screen.query_one(Timeline)
        assert timeline.num_rows == 16
        assert "│ 0 " in screen_text(stage.app)
        timeline.post_message(MouseScrollDown(timeline, 10, 3, 0, 1, 0, False, False, False))
        await stage.settle()
        assert "│ 0 " not in screen_text(stage.app)
        assert "│16 " in screen_text(stage.app)


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_ascii_alone_draws_ascii_alone(size):
    async with staged(size, mixed_traffic, ascii_only=True) as stage:
        await stage.run(100)
        assert screen_text(stage.app).isascii()


async def test_the_footer_names_the_keys_as_soon_as_the_engine_takes_orders():
    async with staged() as stage:
        await stage.settle()
        assert "1/2/3 Batcher" in screen_text(stage.app)
