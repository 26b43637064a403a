"""The pictures of the README show what the app draws today."""

from __future__ import annotations

import re

import pytest

from engine.recording import Recording
from tests.tui.take_pictures import RECORDING, choose, take

PICTURES = choose(Recording(RECORDING))


def look_of(svg: str) -> list[tuple[str, ...]]:
    """What can be seen: texts with their places and looks, and the coloured cells behind them.

    Names of clips and classes, fonts and the frame are the drawing library's own affair.
    """
    looks = dict(re.findall(r"\.[\w-]+-(r\d+) \{([^}]*)\}", svg))
    texts = re.findall(r'<text class="[\w-]+-(r\d+)" x="([^"]+)" y="([^"]+)"[^>]*>([^<]*)<', svg)
    cells = re.findall(r'<rect fill="(#\w+)" x="([^"]+)" y="([^"]+)" width="([^"]+)"', svg)
    return [(looks[key].strip(), x, y, text) for key, x, y, text in texts] + cells


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
async def test_a_picture_is_what_the_app_draws_today(picture):
    seen = look_of(picture.path.read_text("utf-8"))
    assert len(seen) > 100
    hint = f"{picture.path.name} is stale: python tests/tui/take_pictures.py"
    assert look_of(await take(picture)) == seen, hint
