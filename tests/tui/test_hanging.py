"""Texts that are broken stand beside their names."""

from textual.content import Content

from tuiapp.widgets.hanging import hang


def test_no_line_begins_further_left():
    told = hang(Content("  is   "), "token positions computed for the first time", 24)
    assert str(told) == "  is   token positions\n       computed for the\n       first time"


def test_where_there_is_little_room_the_text_keeps_some():
    assert str(hang(Content("much too long "), "a word or two", 10)) == (
        "much too long a word or\n              two"
    )


def test_what_fits_stays_on_one_line():
    assert str(hang(Content("◦ "), "The queue", 40)) == "◦ The queue"
