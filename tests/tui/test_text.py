"""Text from models and users, made safe for a grid of cells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tuiapp.text import clean, one_line
from tuiapp.widgets.wrapping import WrappedText


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain [brackets] [/b] stay", "plain [brackets] [/b] stay"),
        ("\x1b[31mred\x1b[0m", "�[31mred�[0m"),
        ("\x1b]0;title\x07", "�]0;title�"),
        ("a\tb\r\nc", "a    b\nc"),
        ("right\u202eto left\u2066", "right�to left�"),
        ("zero\u200bwidth\ufeff", "zero�width�"),
        ("日本語 한국어", "日本語 한국어"),
        ("e\u0301", "é"),
        ("👩\u200d💻 ❤\ufe0f", "👩💻 ❤"),
    ],
)
def test_clean_keeps_text_and_disarms_controls(text, shown):
    assert clean(text) == shown


def test_one_line_folds_all_white_space():
    assert one_line(" a\n\n b\tc ") == "a b c"


@given(st.text(max_size=200), st.integers(1, 20))
def test_whatever_is_wrapped_fits_and_nothing_is_lost(text, width):
    wrapped = WrappedText(width)
    for character in clean(text):
        wrapped.add(character)
    lines = [*wrapped.done, wrapped.current]
    assert all(cell_len(line) <= max(2, width) for line in lines)
    assert "".join("".join(lines).split()) == "".join(clean(text).split())


def test_words_are_kept_whole_also_when_they_come_in_pieces():
    wrapped = WrappedText(10)
    for piece in ("The", " batch", "ing", " policy"):
        wrapped.add(piece)
    assert [*wrapped.done, wrapped.current] == ["The", "batching", "policy"]


def test_old_lines_are_dropped_and_counted():
    wrapped = WrappedText(5, max_lines=3)
    wrapped.add("a\nb\nc\nd\ne")
    assert (wrapped.done, wrapped.current, wrapped.num_lines) == (["b", "c", "d"], "e", 5)
