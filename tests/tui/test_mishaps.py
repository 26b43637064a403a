"""What goes wrong on the live screen, and what the user is told of it."""

from __future__ import annotations

from dataclasses import replace

from engine.events import Failed
from engine.plan import RunnerError
from engine.request import Request, SamplingParams
from engine.settings import BatcherName
from tests.tui.goldens import screen_text
from tests.tui.stage import mixed_traffic, staged
from tuiapp.screens.failure import FailureScreen
from tuiapp.screens.inject import InjectScreen
from tuiapp.screens.live import LiveScreen
from tuiapp.screens.picker import PickerScreen
from tuiapp.view.fold import NUM_NOTICES


async def test_refused_settings_are_taken_back_and_no_pass_is_blamed(monkeypatch):
    def refuse(num_blocks, block_size):
        raise RunnerError("no memory for 5000 blocks")

    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(10)
        monkeypatch.setattr(stage.backend.runner, "resize", refuse)
        session = stage.app.session
        session.configure(replace(session.settings, num_kv_blocks=5000))
        await stage.settle()
        assert isinstance(stage.app.screen, LiveScreen)
        assert session.settings == stage.backend.core.settings
        await stage.press("1")
        assert stage.backend.core.settings.batcher is BatcherName.STATIC


async def test_a_fatal_failure_takes_the_place_of_a_lesser_one():
    async with staged(traffic=mixed_traffic) as stage:
        stage.backend.log.append(Failed(0.0, "a pass failed"))
        await stage.settle()
        stage.backend.log.append(Failed(0.0, "KeyError: 7", is_fatal=True))
        await stage.settle()
        assert isinstance(stage.app.screen, FailureScreen)
        assert "KeyError: 7" in screen_text(stage.app)


async def test_a_flood_of_refusals_is_one_toast_that_counts_them():
    async with staged() as stage:
        for number in range(NUM_NOTICES + 4):
            stage.backend.submit(Request(f"r{number}", (1,) * 9999, SamplingParams()))
        await stage.settle()
        (toast,) = stage.app._notifications
        assert toast.message.startswith(f"r{NUM_NOTICES + 3} refused: 9999 prompt + ")
        assert toast.message.endswith(f" (and {NUM_NOTICES + 3} more)")


async def test_settings_that_a_workload_turns_reach_the_session():
    async with staged(traffic=mixed_traffic) as stage:
        changed = replace(stage.backend.core.settings, num_kv_blocks=77)
        stage.backend.core.configure(changed)
        await stage.settle()
        assert stage.app.session.settings == changed


async def test_what_will_be_refused_is_not_sent():
    async with staged() as stage:
        await stage.press("i", "tab", *"9999999", "enter")
        assert isinstance(stage.app.screen, InjectScreen)
        assert not stage.backend.core.has_work


async def test_the_picker_opens_whatever_the_knobs_are():
    async with staged(max_num_batched_tokens=2048, max_num_seqs=1024) as stage:
        await stage.press("w")
        assert isinstance(stage.app.screen, PickerScreen)
        for _ in range(12):
            await stage.press("down")
        assert isinstance(stage.app.screen, PickerScreen)


async def test_latencies_begin_anew_with_another_batcher():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(60)
        assert stage.app.screen.snapshot.meters.itl is not None
        await stage.press("1")
        assert stage.app.screen.snapshot.meters.itl is None
