"""What a newcomer does first, from the first screen to the report, without a thread."""

from __future__ import annotations

import re

import pytest

from engine.runners.parts import ModelSpec
from tests.tui.stage import SIZES
from tests.tui.tour import CULPRIT, REWIND, SLOWEST, STOPS, TOUR, WAITS, WHY, check_readable, name
from tuiapp.demo.play import play
from tuiapp.demo.stage import stage_script
from tuiapp.shot.cells import screen_text

MOST_PASSES = 3  # of a gap that an eviction made
ONE_FRAME_A_SCENE = 0.01  # frames a second


async def seen_on_the_tour(size) -> dict[str, str]:
    """The screen of every scene, by its keys; of two with the same, the first."""
    seen = {}
    session = stage_script(TOUR, ModelSpec(device="sim:linear"))

    def look(app, scene, _time):
        text = screen_text(app)
        check_readable(text, *size)
        seen.setdefault(name(scene), text)

    await play(TOUR, session, size, ONE_FRAME_A_SCENE, look)
    return seen


def test_the_tour_takes_in_what_a_newcomer_wants():
    pressed = [key for scene in TOUR.scenes for key in scene.keys]
    assert [key for key in pressed if key in STOPS][: len(STOPS)] == list(STOPS)
    assert 30 <= TOUR.seconds <= 90


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_the_screens_of_the_tour_are_readable_and_say_who_is_to_blame(size):
    seen = await seen_on_the_tour(size)
    assert len(set(seen.values())) == len(seen)
    assert "the sum of" in seen[SLOWEST]
    assert WAITS.search(seen[WHY])
    if size == SIZES[1]:
        return  # the report's worst gap is below what fits
    blamed = re.search(r"worst gap .* (?:Pass|before pass) (\d+)", seen["r"])
    shown = re.search(r"◀ pass (\d+) of", seen[REWIND])
    assert CULPRIT.search(seen["r"]), seen["r"]
    assert blamed, seen["r"]
    assert shown, seen[REWIND]
    assert 0 <= int(shown[1]) - int(blamed[1]) <= MOST_PASSES
