"""The golden screens as a whole: how many there are, and what they notice."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from engine.settings import BatcherName
from tests.tui.goldens import FOLDER, check_screen, draw, screen_text, tell_difference
from tests.tui.stage import SIZES, mixed_traffic, staged

STATE = re.compile(r"(.+)-(\d+x\d+)")
TESTS = Path(__file__).parent


def states() -> dict[str, set[str]]:
    """The sizes at which each state is kept."""
    kept: dict[str, set[str]] = {}
    for path in FOLDER.glob("*.txt"):
        state, size = STATE.fullmatch(path.stem).groups()
        kept.setdefault(state, set()).add(size)
    return kept


def test_at_least_thirty_states_are_kept_each_at_both_sizes():
    kept = states()
    assert len(kept) >= 30
    sizes = {f"{width}x{height}" for width, height in SIZES}
    assert [state for state, at in kept.items() if not sizes <= at] == []


def test_no_golden_is_kept_that_no_test_draws():
    texts = "".join(path.read_text("utf-8") for path in TESTS.glob("test_*.py"))
    kinds = [*(batcher.value for batcher in BatcherName), "light", "high-contrast"]
    built = {f"live-{kind}" for kind in kinds}
    assert {state for state in states() if state not in texts} <= built


def test_only_tests_themselves_compare_a_screen_so_that_one_command_runs_them_all():
    callers = [
        function.name
        for path in TESTS.rglob("test_*.py")
        for function in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        and any(getattr(node, "id", "") == "check_screen" for node in ast.walk(function))
    ]
    assert len(callers) >= 30
    assert [name for name in callers if not name.startswith("test_")] == []


async def test_a_change_of_colour_alone_is_noticed_and_told():
    async with staged(SIZES[1], mixed_traffic) as stage:
        await stage.run(50)
        text, picture = screen_text(stage.app), draw(stage.app)
        stage.live.query_one("#story").styles.color = "#123456"
        await stage.settle()
        assert screen_text(stage.app) == text
        changed = draw(stage.app)
    assert changed != picture
    told = tell_difference("live", picture, changed)
    assert "#123456" in told
    assert len(told.splitlines()) < 20


@pytest.mark.slow
async def test_twenty_runs_draw_the_same(monkeypatch, request):
    assert request.node.get_closest_marker("golden")
    monkeypatch.delenv("UPDATE_SCREENS", raising=False)
    for _ in range(20):
        async with staged(SIZES[1], mixed_traffic) as stage:
            await stage.run(196)
            check_screen(stage.app, "live-continuous-80x24")
