"""The top line at every width: which moment is shown is never cut off."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from tests.builders import make_core
from tests.tui.goldens import screen_text
from tests.tui.stage import mixed_traffic, staged
from tuiapp.widgets.title import Words

INFO = make_core().info


def first_line(stage):
    return " ".join(screen_text(stage.app).splitlines()[0].split())


def words(*what, workload="", **more):
    return Words(what, ("pass 196", "2.5 s"), INFO, workload, **more)


async def test_the_smallest_terminal_has_the_pass_and_the_clock():
    async with staged((80, 24), mixed_traffic) as stage:
        await stage.run(196)
        assert first_line(stage) == (
            "▚ batchscope continuous · chunked prefill 64 ▶ pass 196 · 2.5 s · simulated"
        )
        await stage.press("space")
        assert first_line(stage) == (
            "▚ batchscope continuous · chunked 64 ‖ paused pass 196 · 2.5 s · simulated"
        )


async def test_what_plays_is_told_with_its_speed():
    async with staged((120, 36)) as stage:
        stage.app.session.workload = "straggler"
        await stage.press("plus")
        assert first_line(stage).endswith("pass 0 · 0.0 s · toy simulated · straggler ×2")


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (80, "◀ pass 125 of 196 ▶ continuous · chunked 64 1.6 s · simulated"),
        (120, "◀ pass 125 of 196 ▶ continuous · chunked prefill 64 1.6 s · toy simulated"),
    ],
)
async def test_an_earlier_moment_is_told_in_the_first_place(width, shown):
    async with staged((width, 36), mixed_traffic) as stage:
        await stage.run(196)
        await stage.press(*["shift+left"] * 7, "left")
        assert first_line(stage) == f"▚ batchscope {shown}"


def test_the_model_gives_way_first_then_what_plays_then_settings():
    told = words("static", "batch 8", "streams", workload="straggler")
    assert [told.fit(room) for room in (71, 67, 57, 45)] == [
        ("static · batch 8 · streams", "pass 196 · 2.5 s · toy simulated · straggler"),
        ("static · batch 8 · streams", "pass 196 · 2.5 s · simulated · straggler"),
        ("static · batch 8 · streams", "pass 196 · 2.5 s · simulated"),
        ("static · batch 8", "pass 196 · 2.5 s · simulated"),
    ]


def test_that_a_recording_plays_is_told_before_settings():
    told = words("static", "batch 8", workload="replay of run.jsonl", is_replay=True)
    assert told.fit(56) == ("static", "pass 196 · 2.5 s · simulated · replay of run.jsonl")


def test_a_long_name_is_cut_and_simulated_never():
    told = words(
        "static", "batch 8", workload="replay of 日本語-run-of-tuesday.jsonl", is_replay=True
    )
    assert told.fit(51) == ("static", "pass 196 · 2.5 s · simulated · replay of 日…")
    assert told.fit(40) == ("static", "pass 196 · 2.5 s · simulated")
    assert all(cell_len("".join(told.fit(room))) <= room for room in range(34, 90))
