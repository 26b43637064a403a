"""The keys in the lower border of a dialog."""

from __future__ import annotations

import pytest

from tuiapp.screens.hint import fit_hint, link_hint

HINT = "⏎ report   p replay   d delete   esc close"


@pytest.mark.parametrize(
    ("room", "shown"),
    [
        (42, HINT),
        (41, "⏎ report  p replay  d delete  esc close"),
        (38, "⏎ report  p replay  esc close"),
        (28, "⏎ report  esc close"),
        (12, "esc close"),
    ],
)
def test_a_hint_has_room_for_its_last_key(room, shown):
    assert fit_hint(HINT, room) == shown


@pytest.mark.parametrize(
    ("hint", "links"),
    [
        ("⏎ report   p replay", [("⏎ report", "enter"), ("p replay", "p")]),
        (
            "Enter report  / filter  d delete",
            [("Enter report", "enter"), ("/ filter", "slash"), ("d delete", "d")],
        ),
        ("← → others   ↑↓ choose   esc", [("esc", "escape")]),
        ("1 2 3 predict   1-4 or ⏎ strike   n, esc no", []),
        ("a column is a pass   esc close", [("esc close", "escape")]),
    ],
)
def test_a_part_that_names_one_key_that_is_bound_is_a_link_to_it(hint, links):
    bound = {"enter", "slash", "escape", "left", "right", "up", "down", "delete", *"pd1234"}
    content = link_hint(hint, bound)
    spans = [(content.plain[s.start : s.end], s.style.meta["@click"]) for s in content.spans]
    assert content.plain == hint
    assert spans == [(text, f"screen.press({key!r})") for text, key in links]
