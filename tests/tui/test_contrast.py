"""Whatever a screen says can be read, in every theme: ink against paper as it is really drawn."""

from __future__ import annotations

import unicodedata
from datetime import timedelta

import pytest
from textual.color import Color
from textual.strip import Strip

from tests.library.builders import WHEN, keep, straggler
from tests.tui.colour import contrast
from tests.tui.comparing import finish, press
from tests.tui.goldens import screen_lines, screen_text
from tests.tui.stage import alike_traffic, mixed_traffic, staged
from tuiapp.library.library import Library
from tuiapp.screens.failure import FailureScreen
from tuiapp.screens.replay import ReplayScreen
from tuiapp.screens.report import ReportScreen
from tuiapp.theme import THEMES

LEAST = 4.5  # WCAG 2.2, success criterion 1.4.3
TOUR = (  # screens by the keys that open them from the live one
    (),
    ("down", "down"),
    ("space",),
    ("i",),
    ("w",),
    ("down", "enter"),
    ("k", "down", "m"),
    ("k", "y"),
    ("question_mark",),
    ("slash", "r", "1"),
    ("j",),
    ("j", "k"),
    ("l",),
    ("a",),
    ("u",),
    ("p",),
    ("c",),
    ("c", "e"),
)


def is_drawing(sign):
    """Lines, blocks, dots and arrows: what they say is said in words beside them."""
    return unicodedata.category(sign) in ("So", "Sm", "Zs") or sign in "·…"


def lines_in_front(app):
    """The screen, or of a dialog what is not the dimmed screen behind it."""
    lines = [Strip(line) for line in screen_lines(app)]
    if not app.screen.is_modal:
        return lines
    regions = [*regions_in_front(app.screen)]
    assert regions, "a dialog of which nothing is seen"
    return [
        line.crop(region.x, region.right)
        for region in regions
        for line in lines[region.y : region.bottom]
    ]


def regions_in_front(widget):
    """The outermost boxes that a dialog draws; its own covers the screen."""
    for child in widget.children:
        if child.region:
            yield child.region
        else:
            yield from regions_in_front(child)


def pale_words(app):
    """Words whose ink does not stand out from their paper, by contrast and colours."""
    found = {}
    for segment in (segment for line in lines_in_front(app) for segment in line):
        words = "".join(sign for sign in segment.text if not is_drawing(sign)).strip()
        style = segment.style
        if words and style and style.color and style.bgcolor:
            ink, paper = (Color.from_rich_color(c).hex6 for c in (style.color, style.bgcolor))
            if (ratio := contrast(ink, paper)) < LEAST:
                found[round(ratio, 2), ink, paper] = words
    return found


async def pale_words_by_theme(stage):
    """To open a screen takes longer than to see it in every theme."""
    found = {}
    for theme in THEMES:
        stage.app.theme = theme.name
        await stage.pilot.pause()
        if words := pale_words(stage.app):
            found[theme.name] = words
    return found


@pytest.mark.parametrize("tour", [TOUR[::2], TOUR[1::2]], ids=["one half", "the other"])
async def test_every_word_stands_out_from_its_paper_in_every_theme(tour):
    async with staged((120, 36), mixed_traffic, num_kv_blocks=60) as stage:
        await stage.run(120)
        found = {}
        for keys in tour:
            await stage.pilot.press(*keys)
            await stage.settle()
            if pale := await pale_words_by_theme(stage):
                found[keys] = pale
            await stage.pilot.press("escape", "escape")
    assert found == {}


KEPT = (  # from the live screen, of a folder in which runs are kept
    ("o",),
    ("o", "space", "slash"),
    ("o", "slash", *"stat"),
    ("o", "end"),
    ("o", "enter"),
    ("o", "enter", "pagedown"),
    ("o", "enter", "g"),
    ("o", "d"),
    ("o", "space", "down", "space", "c"),
    ("o", "space", "down", "space", "l"),
)


@pytest.mark.parametrize("keys", KEPT, ids=" ".join)
async def test_every_word_about_kept_runs_stands_out_in_every_theme(keys, tmp_path):
    library = Library(tmp_path)
    for number, variant in enumerate(("static", "continuous")):
        keep(library, variant, WHEN + timedelta(hours=number))
    (library.folder / "notes.jsonl").write_text("not a run\n")
    async with staged(traffic=mixed_traffic, library=library) as stage:
        await stage.run(20)
        await stage.press(*keys)
        assert stage.app.screen is not stage.live
        if isinstance(stage.app.screen, ReplayScreen):
            await stage.until(lambda: stage.app.screen.newest.num_passes == 18)
            stage.app.screen.draw_all()
        assert await pale_words_by_theme(stage) == {}


async def test_every_word_of_reports_stands_out_in_every_theme():
    async with staged(num_kv_blocks=4096) as stage:
        await stage.press("r")
        assert await pale_words_by_theme(stage) == {}
        await stage.press("escape")
        stage.app.session.play_preset(straggler(), "static")
        await stage.run(100_000)
        await stage.settle()
        assert isinstance(stage.app.screen, ReportScreen)
        assert await pale_words_by_theme(stage) == {}


async def test_every_word_of_a_failure_stands_out_in_every_theme():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(60)
        stage.backend.runner.fails_next = True
        await stage.run(2)
        assert isinstance(stage.app.screen, FailureScreen)
        assert await pale_words_by_theme(stage) == {}


async def test_every_word_of_a_comparison_that_ran_stands_out_in_every_theme():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(60)
        await stage.press("c")
        await finish(stage)
        for keys in ((), ("home", "shift+right", "down"), ("g",)):
            await press(stage, *keys)
            assert await pale_words_by_theme(stage) == {}, keys


async def test_every_word_of_the_palette_stands_out_in_every_theme():
    async with staged() as stage:
        await stage.press("ctrl+p", *"theme", "colon")
        await stage.until(lambda: "Theme: light" in screen_text(stage.app))
        assert await pale_words_by_theme(stage) == {}


async def test_shared_blocks_can_be_counted_in_every_theme():
    async with staged((120, 36), alike_traffic, enable_prefix_caching=True) as stage:
        await stage.run(30)
        assert await pale_words_by_theme(stage) == {}


async def test_a_pale_word_is_found_in_the_theme_where_it_is_pale():
    async with staged((120, 36), mixed_traffic) as stage:
        stage.live.query_one("#story").styles.color = "#333333"
        dark, light, contrasting = (theme.name for theme in THEMES)
        found = await pale_words_by_theme(stage)
        assert found.keys() == {dark, contrasting}, f"{light} has light paper"
