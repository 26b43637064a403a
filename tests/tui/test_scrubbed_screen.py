"""The screen of a pass that is gone back to, widget by widget that of a run stopped there."""

from __future__ import annotations

import pytest

from engine.settings import BatcherName
from tests.tui.goldens import screen_text
from tests.tui.stage import mixed_traffic, staged
from tuiapp.widgets.key_bar import KeyBar
from tuiapp.widgets.lines import StoryLine
from tuiapp.widgets.title import Title

RUNS = {
    "continuous": {},
    "static": {"batcher": BatcherName.STATIC},
    "out of blocks": {"num_kv_blocks": 40},
}
STOPS = (60, 31, 120)
END = 150
OTHERWISE = (Title, KeyBar, StoryLine)  # they say that this is the past, and what can be done there


def drawn(app) -> list[tuple[str, list[str]]]:
    """The lines of every widget that draws itself."""
    shown = [each for each in app.screen.walk_children() if each.size and not each.children]
    return [
        (type(each).__name__, [line.text for line in each.render_lines(each.size.region)])
        for each in shown
        if not isinstance(each, OTHERWISE)
    ]


def story(app) -> str:
    return str(app.screen.query_one(StoryLine).render())


async def stopped(knobs, num_passes):
    async with staged(traffic=mixed_traffic, **knobs) as stage:
        await stage.run(num_passes)
        return drawn(stage.app), story(stage.app)


@pytest.mark.parametrize("knobs", RUNS.values(), ids=RUNS.keys())
async def test_a_pass_gone_back_to_is_drawn_as_a_run_stopped_there(knobs):
    wanted = {number: await stopped(knobs, number) for number in STOPS}
    async with staged(traffic=mixed_traffic, **knobs) as stage:
        await stage.run(END)
        await stage.press("end")
        here = END
        for number in STOPS:
            key, far = ("left", here - number) if number < here else ("right", number - here)
            await stage.press(*[f"shift+{key}"] * (far // 10), *[key] * (far % 10))
            here = number
            widgets, told = wanted[number]
            assert len(widgets) > 10
            assert drawn(stage.app) == widgets
            assert told.startswith(story(stage.app)), "but for the hint at keys of the present"
            assert f"◀ pass {number} of {END} ▶" in screen_text(stage.app)
