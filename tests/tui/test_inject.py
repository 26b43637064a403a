"""The prompt of the form: many lines, and long ones."""

from __future__ import annotations

from textual import events

from tests.tui.goldens import screen_text
from tests.tui.stage import staged
from tuiapp.widgets.prompt_input import PromptInput


async def paste(stage, text):
    stage.app.screen.query_one(PromptInput).post_message(events.Paste(text))
    await stage.settle()


async def test_pasted_lines_are_all_taken_and_counted():
    async with staged() as stage:
        await stage.press("i")
        await paste(stage, "Dear model,\ntell me\r\na story")
        assert stage.app.screen.query_one(PromptInput).text == "Dear model,\ntell me\na story"
        assert "in 3 lines" in screen_text(stage.app)


async def test_a_long_text_is_read_once_the_keys_rest_and_not_for_every_key(monkeypatch):
    async with staged() as stage:
        await stage.press("i")
        maker, calls = stage.app.session.prompts, []
        chat = maker.chat
        monkeypatch.setattr(maker, "chat", lambda text: calls.append(len(text)) or chat(text))
        prompt = stage.app.screen.query_one(PromptInput)
        for length in range(2001, 2007):
            prompt.value = "x" * length
        await stage.until(lambda: bool(calls))
        assert calls == [2006]
        await stage.settle()
        assert "the text has" in screen_text(stage.app)
