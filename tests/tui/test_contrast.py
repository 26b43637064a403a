"""Whatever a screen says can be read, in every theme: ink against paper as it is really drawn."""

from __future__ import annotations

import unicodedata

import pytest
from textual.color import Color
from textual.strip import Strip

from tests.tui.colour import contrast
from tests.tui.stage import alike_traffic, mixed_traffic, staged
from tuiapp.shot.cells import screen_lines
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
    x, y, width, height = app.screen.children[0].region
    return [line.crop(x, x + width) for line in lines[y : y + height]]


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
        for keys in tour:
            await stage.pilot.press(*keys)
            await stage.settle()
            assert not await pale_words_by_theme(stage), keys
            await stage.pilot.press("escape", "escape")


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
