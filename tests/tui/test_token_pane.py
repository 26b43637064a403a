"""One token pane, fed by hand."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace

from textual.app import App

from engine.events import Work
from engine.request import FinishReason
from engine.settings import Delivery
from tests.tui.goldens import screen_text
from tuiapp.theme import DARK_INKS
from tuiapp.view.tracked import RequestView
from tuiapp.widgets.token_pane import TokenPane

VIEW = RequestView(
    id="r7",
    label="",
    arrival=0.0,
    num_prompt_tokens=12,
    max_tokens=50,
    num_output_tokens=3,
    num_delivered=3,
    num_computed=14,
    num_in_pass=1,
    num_preemptions=0,
    num_cached=0,
    work=Work.DECODE,
    reason=None,
    message="",
    text="Once upon a",
    text_start=0,
    priority=0,
    admitted_at=0.0,
    first_delivery=0.1,
    last_delivery=0.3,
    worst_gap=0.1,
)


class PaneApp(App[None]):
    CSS = "TokenPane { width: 24; height: 5; }"
    AUTO_FOCUS = None

    def compose(self):
        yield TokenPane(0)

    def get_theme_variable_defaults(self):
        return DARK_INKS


def inside(app):
    """The three lines between the borders."""
    rows = screen_text(app).split("\n")[1:4]
    return [row.removeprefix("│").removesuffix("│").rstrip() for row in rows]


class Shown:
    """A pane, and the lines between its borders."""

    def __init__(self, app, pilot):
        self._app, self._pilot = app, pilot
        self.pane = app.query_one(TokenPane)

    async def show(self, view, delivery=Delivery.STREAM, *, is_mine=False, is_over=False):
        self.pane.show(view, delivery, is_mine=is_mine, is_over=is_over)
        await self._pilot.pause()
        return self.lines

    @property
    def lines(self):
        return inside(self._app)

    @property
    def frame(self):
        rows = screen_text(self._app).split("\n")
        return rows[0].strip("╭╮─ "), rows[4].strip("╰╯─ ")


@asynccontextmanager
async def pane(size=(24, 5)):
    app = PaneApp()
    async with app.run_test(size=size) as pilot:
        yield Shown(app, pilot)


def grown(text, count, **changes):
    return replace(VIEW, text=text, num_output_tokens=count, num_delivered=count, **changes)


async def test_text_grows_at_its_end_and_follows_it():
    async with pane() as shown:
        assert await shown.show(VIEW) == ["Once upon a▏", "", ""]
        assert await shown.show(grown("Once upon a time there", 5)) == [
            "Once upon a time there",
            "",
            "",
        ]
        lines = await shown.show(
            grown("Once upon a time there was a fox who lived in a wood by a lake", 15)
        )
        assert lines == ["Once upon a time there", "was a fox who lived in", "a wood by a lake▏"]
        assert shown.frame == ("r7", "15/50")


async def test_a_new_owner_begins_with_an_empty_pane():
    async with pane() as shown:
        await shown.show(VIEW)
        assert await shown.show(replace(VIEW, id="r8", text="New")) == ["New▏", "", ""]


async def test_a_text_cut_at_its_head_goes_on_where_it_was():
    async with pane() as shown:
        await shown.show(grown("abc def", 2))
        assert await shown.show(grown("def ghi", 3, text_start=4)) == ["abc def ghi▏", "", ""]


async def test_a_held_slot_says_so_and_that_its_text_is_not_delivered():
    async with pane() as shown:
        held = replace(VIEW, reason=FinishReason.STOP, num_delivered=0, work=Work.HELD)
        assert await shown.show(held, Delivery.BATCH) == ["Once upon a", "", ""]
        assert shown.frame == ("r7 held", "3/50 not delivered")
        assert shown.pane.has_class("-held")


async def test_a_slot_that_became_free_keeps_its_last_text():
    async with pane() as shown:
        await shown.show(VIEW)
        ended = replace(VIEW, reason=FinishReason.STOP)
        assert await shown.show(ended, is_over=True) == ["Once upon a", "", ""]
        assert shown.frame == ("r7 done", "3/50")
        assert await shown.show(VIEW) == ["Once upon a▏", "", ""]


async def test_a_slot_tells_how_it_became_free():
    async with pane() as shown:
        await shown.show(VIEW, is_over=True)
        assert shown.frame == ("r7 evicted", "3/50")
        await shown.show(replace(VIEW, reason=FinishReason.ABORT), is_over=True)
        assert shown.frame == ("r7 abort", "3/50")


async def test_a_slot_that_nobody_held_yet_is_empty_whatever_was_shown_before():
    async with pane() as shown:
        await shown.show(VIEW)
        assert await shown.show(None) == ["", "", ""]
        assert shown.frame == ("", "")


async def test_an_earlier_text_is_shown_where_time_goes_back():
    async with pane() as shown:
        await shown.show(grown("so so so so", 4))
        assert await shown.show(grown("so so so", 3)) == ["so so so▏", "", ""]


async def test_a_prompt_under_way_shows_how_far_it_is():
    async with pane() as shown:
        view = replace(VIEW, text="", num_output_tokens=0, num_delivered=0, num_computed=8)
        assert await shown.show(view) == ["▏", "", ""]
        assert shown.frame == ("r7", "prompt 8/12")


async def test_wide_characters_and_brackets_keep_the_grid():
    async with pane() as shown:
        lines = await shown.show(grown("[b]日本語[/b] 日本語 日本語 日本語", 9))
        assert lines == ["[b]日本語[/b] 日本語", "日本語 日本語▏", ""]


async def test_a_narrower_pane_wraps_again():
    app = PaneApp()
    async with app.run_test(size=(24, 5)) as pilot:
        shown = Shown(app, pilot)
        await shown.show(grown("one two three four five", 9))
        app.query_one(TokenPane).styles.width = 12
        await pilot.pause()
        assert inside(app) == ["one two", "three four", "five▏"]
