from __future__ import annotations

from dataclasses import replace

from engine.generate.demo import DemoMix
from engine.settings import BatcherName
from tests.tui.goldens import screen_text
from tests.tui.stage import staged
from tuiapp.screens.live_keys import USUAL_KEYS
from tuiapp.screens.news import News
from tuiapp.view.snapshot import Notice


async def test_refusals_are_told_at_once_and_then_together_when_their_toast_has_gone():
    async with staged() as stage:
        screen, clock = stage.app.screen, [100.0]
        news = News(screen, stage.app.session, USUAL_KEYS, lambda: clock[0])
        notices = tuple(Notice(f"r{number} refused", is_refusal=True) for number in range(4))

        async def tell(num_notices):
            told = notices[:num_notices]
            news.tell(replace(screen.newest, notices=told, num_notices=num_notices))
            await stage.settle()
            return [toast.message for toast in stage.app._notifications]

        assert await tell(1) == ["r0 refused"]
        assert await tell(2) == ["r0 refused"]
        assert await tell(4) == ["r0 refused"]
        clock[0] += 5.0
        assert await tell(4) == ["r0 refused", "r3 refused (and 2 more)"]
        clock[0] += 60.0
        assert await tell(4) == ["r0 refused", "r3 refused (and 2 more)"]


async def test_what_is_no_refusal_is_told_one_by_one():
    async with staged() as stage:
        news = News(stage.app.screen, stage.app.session, USUAL_KEYS)
        notices = (Notice("a note"), Notice("a refusal", is_refusal=True), Notice("another"))
        news.tell(replace(stage.app.screen.newest, notices=notices, num_notices=3))
        await stage.settle()
        told = [toast.message for toast in stage.app._notifications]
        assert told == ["a note", "another", "a refusal"]


async def test_that_the_gentle_mix_holds_back_is_told_once():
    async with staged(batcher=BatcherName.STATIC) as stage:
        session = stage.app.session
        session.play("gentle mix", DemoMix(session.prompts, 30.0, 1, most_open=24))
        await stage.run(300)
        (toast,) = stage.app._notifications
        assert "the gentle mix holds back at 24 open requests" in toast.message
        await stage.run(300)
        assert len(stage.app._notifications) == 1
        assert "gentle mix held" in screen_text(stage.app)
