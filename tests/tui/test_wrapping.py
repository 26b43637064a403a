"""A text that is wrapped as it grows, and back again as it shrinks."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from tuiapp.widgets.wrapping import WrappedText

TOKENS = st.lists(st.sampled_from(["a", "word", " ", " of", "\n", ", then", "."]), max_size=60)
STORY = "Once upon a time there was a mouse. It lived under a stair and ate crumbs.\nThe end."


def lines(wrapped):
    return [*wrapped.done, wrapped.current]


def test_words_go_to_the_next_line_whole():
    wrapped = WrappedText(12)
    wrapped.add("Once upon a time there was")
    assert lines(wrapped) == ["Once upon a", "time there", "was"]


def test_a_token_goes_on_with_the_word_that_it_belongs_to():
    wrapped = WrappedText(12)
    for token in ("Once upon", " a", " ti", "me"):
        wrapped.add(token)
    assert lines(wrapped) == ["Once upon a", "time"]


@given(tokens=TOKENS, width=st.integers(8, 20))
def test_what_is_taken_back_leaves_what_was_there_before(tokens, width):
    wrapped, before = WrappedText(width), []
    for token in tokens:
        before.append(lines(wrapped))
        wrapped.add(token)
    for number in reversed(range(len(tokens))):
        wrapped.cut("".join(tokens[:number]))
        assert lines(wrapped) == before[number]


def test_it_grows_again_after_it_was_cut():
    wrapped = WrappedText(14)
    wrapped.add(STORY)
    wrapped.cut(STORY[:30])
    wrapped.add(STORY[30:])
    whole = WrappedText(14)
    whole.add(STORY)
    assert lines(wrapped) == lines(whole)


def test_a_text_cut_to_where_its_lines_were_dropped_is_wrapped_anew():
    wrapped, whole = WrappedText(10, max_lines=3), WrappedText(10, max_lines=3)
    for word in re.findall(r"\S+\s*", STORY):
        wrapped.add(word)
    assert wrapped.num_dropped > 0
    assert len(wrapped._marks) <= 4  # of those that can be gone back to
    wrapped.cut(STORY[:20])
    whole.add(STORY[:20])
    assert lines(wrapped) == lines(whole)
    assert wrapped.num_lines == whole.num_lines
