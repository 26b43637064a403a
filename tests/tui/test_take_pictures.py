"""The pictures of the README show what the app draws today."""

from __future__ import annotations

import re
from itertools import zip_longest

import pytest

from engine.recording import Recording
from tests.tui.goldens import COMMAND, is_update
from tests.tui.take_pictures import FILM, RECORDING, choose, take, take_film

PICTURES = choose(Recording(RECORDING))


def look_of(svg: str) -> list[tuple[str, ...]]:
    """What can be seen: texts with their places and looks, and the coloured cells behind them.

    Names of clips and classes, fonts and the frame are the drawing library's own affair.
    """
    looks = dict(re.findall(r"\.[\w-]+-(r\d+) \{([^}]*)\}", svg))
    texts = re.findall(r'<text class="[\w-]+-(r\d+)" x="([^"]+)" y="([^"]+)"[^>]*>([^<]*)<', svg)
    cells = re.findall(r'<rect fill="(#\w+)" x="([^"]+)" y="([^"]+)" width="([^"]+)"', svg)
    return [(looks[key].strip(), x, y, text) for key, x, y, text in texts] + cells


@pytest.mark.golden
@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
async def test_a_picture_is_what_the_app_draws_today(picture):
    drawn = await take(picture)
    if is_update() and look_of(drawn) != look_of(picture.path.read_text("utf-8")):
        picture.path.write_text(drawn, "utf-8")
    seen = look_of(picture.path.read_text("utf-8"))
    assert len(seen) > 100
    assert look_of(drawn) == seen, f"{picture.path.name} is stale: {COMMAND}"


@pytest.mark.golden
@pytest.mark.slow
@pytest.mark.timeout(300)  # twenty seconds, where nothing else runs
async def test_the_film_is_byte_for_byte_what_the_demo_is_today():
    drawn = await take_film()
    if is_update():
        FILM.write_text(drawn, "utf-8")
    kept = FILM.read_text("utf-8")
    assert first_difference(kept, drawn) is None, f"{FILM.name} is stale: {COMMAND}"


def first_difference(kept: str, drawn: str) -> tuple[str, str] | None:
    """The first two lines that differ; whole films are too long to be told."""
    pairs = zip_longest(kept.splitlines(), drawn.splitlines(), fillvalue="")
    return next((pair for pair in pairs if pair[0] != pair[1]), None)
