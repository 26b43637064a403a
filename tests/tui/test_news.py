from __future__ import annotations

from dataclasses import replace

from tests.tui.stage import staged
from tuiapp.screens.news import News
from tuiapp.view.snapshot import Notice


async def test_refusals_are_told_at_once_and_then_together_when_their_toast_has_gone():
    async with staged() as stage:
        screen, clock = stage.app.screen, [100.0]
        news = News(screen, stage.app.session, lambda: clock[0])
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
        news = News(stage.app.screen, stage.app.session)
        notices = (Notice("a note"), Notice("a refusal", is_refusal=True), Notice("another"))
        news.tell(replace(stage.app.screen.newest, notices=notices, num_notices=3))
        await stage.settle()
        told = [toast.message for toast in stage.app._notifications]
        assert told == ["a note", "another", "a refusal"]
