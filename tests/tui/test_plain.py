"""What reaches the terminal under NO_COLOR and with --ascii, byte by byte."""

from __future__ import annotations

import re
from contextlib import closing

import pytest
from rich.style import Style

from tests.tui.goldens import screen_text
from tests.tui.in_a_terminal import Terminal
from tests.tui.stage import mixed_traffic, staged
from tuiapp.keys import spell_keys
from tuiapp.plain import without_colour

SGR = re.compile(rb"\x1b\[([0-9;:]*)m")
ATTRIBUTES = {0, 1, 2, 3, 4, 7, 9, 22, 23, 24, 27, 29}  # everything else would be a colour


@pytest.mark.slow
def test_no_colour_and_no_other_byte_than_ascii_is_sent():
    arguments = ("--device", "sim:linear", "--ascii")
    with closing(Terminal(*arguments, NO_COLOR="1")) as terminal:
        terminal.wait_for(b"throughput")
        terminal.send("?")
        terminal.wait_for(b"keys and pictures")
        terminal.send("qi")
        terminal.wait_for(b"inject requests")
        assert terminal.leave() == 0
        sent = terminal.output
    codes = {int(code or 0) for found in SGR.findall(sent) for code in found.split(b";")}
    assert codes <= ATTRIBUTES
    assert 7 in codes
    assert sent.isascii()


def test_what_stands_out_by_its_paper_is_drawn_in_reverse():
    cursor = Style(color="#101418", bgcolor="#56b4e9", bold=True)
    usual = Style(color="#dce3ea", bgcolor="#0f1419", italic=True)
    assert without_colour(cursor, 0.0) == Style(bold=True, reverse=True)
    assert without_colour(usual, 0.0) == Style(italic=True, reverse=False)
    assert without_colour(Style(bgcolor="#ffffff"), 1.0) == Style(reverse=False)


def test_keys_are_spelt_out():
    assert spell_keys("⏎ copy   ↑↓ choose   ← → others") == (
        "Enter copy   Up/Down choose   Left/Right others"
    )


async def test_ascii_names_enter_and_the_arrows():
    async with staged(traffic=mixed_traffic, ascii_only=True, size=(140, 36)) as stage:
        await stage.run(20)
        assert "Enter Inspect" in screen_text(stage.app)
        await stage.press("down", "enter")
        assert "Left/Right others" in screen_text(stage.app)
        await stage.press("escape", "question_mark")
        assert "shift+Left" in screen_text(stage.app)
        assert screen_text(stage.app).isascii()
