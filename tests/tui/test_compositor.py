"""What an update writes, and who is asked for it."""

from __future__ import annotations

from itertools import pairwise

from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region
from textual.strip import Strip

from tests.tui.stage import mixed_traffic, staged
from tuiapp.screens.compositor import SparingCompositor
from tuiapp.screens.live import LiveScreen
from tuiapp.widgets.kv_map import KvMap
from tuiapp.widgets.timeline import Timeline


def collect(screen: LiveScreen) -> SparingCompositor:
    """Its compositor, once it knows what has changed and before it draws that."""
    compositor = screen._compositor
    compositor.update_widgets(set(compositor.visible_widgets))
    return compositor


def written(update: ChopsUpdate) -> dict[tuple[int, int], Strip | None]:
    """By line and column, each cell that a span of the update touches."""
    return {
        (y, begin): update.chops[y][begin]
        for y, x1, x2 in update.spans
        for begin, end in pairwise([0, *update.chop_ends[y]])
        if begin < x2 and end > x1
    }


async def test_an_update_is_that_of_textual():
    async with staged(traffic=mixed_traffic) as stage:
        for _ in range(24):  # every part of the screen has had its turn
            stage.backend.run(3)
            stage.live.draw()
            compositor = collect(stage.live)
            changed = set(compositor._dirty_regions)
            ours = compositor.render_partial_update()
            compositor._dirty_regions = changed
            theirs = Compositor.render_partial_update(compositor)
            assert ours.spans == theirs.spans
            assert written(ours) == written(theirs)
            assert None not in written(ours).values()


async def test_who_did_not_change_and_what_is_covered_is_not_asked(monkeypatch):
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(3)
        collect(stage.live).render_partial_update()
        stage.live.query_one(Timeline).refresh()
        asked = []
        for widget in stage.live.walk_children():
            render = widget.render_lines
            monkeypatch.setattr(
                widget,
                "render_lines",
                lambda crop, widget=widget, render=render: asked.append(widget) or render(crop),
            )
        collect(stage.live).render_partial_update()
        assert asked == [stage.live.query_one(Timeline)]


async def test_a_widget_is_asked_for_the_lines_that_changed_alone(monkeypatch):
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(3)
        collect(stage.live).render_partial_update()
        kv_map, crops = stage.live.query_one(KvMap), []
        monkeypatch.setattr(kv_map, "render_lines", lambda crop: crops.append(crop) or [Strip([])])
        kv_map.refresh(Region(2, 3, 4, 1))
        collect(stage.live).render_partial_update()
        assert crops == [Region(0, 4, kv_map.outer_size.width, 1)]  # under its border


async def test_nothing_is_drawn_where_nothing_changed():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(3)
        collect(stage.live).render_partial_update()
        assert collect(stage.live).render_partial_update() is None
