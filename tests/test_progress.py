from __future__ import annotations

import io

from rich.console import Console

from tuiapp.running.progress import Lines, progress


def test_a_line_comes_every_ten_seconds_at_most():
    file, moment = io.StringIO(), [100.0]
    lines = Lines(Console(file=file), "[b]static[/b]", now=lambda: moment[0])
    for second in range(26):
        moment[0] = 100.0 + second
        lines(second, 64)
    assert file.getvalue().splitlines() == [
        "[b]static[/b]: 10 of 64 requests after 10 s",
        "[b]static[/b]: 20 of 64 requests after 20 s",
    ]


def test_where_nobody_watches_there_is_no_bar():
    file = io.StringIO()
    with progress(Console(file=file), "static") as advance:
        advance(1, 2)
    assert file.getvalue() == ""


def test_on_a_terminal_a_bar_is_gone_when_the_run_is_over():
    file = io.StringIO()
    with progress(Console(file=file, force_terminal=True, width=80), "static") as advance:
        advance(1, 2)
    assert "static" in file.getvalue()
    assert "1/2" in file.getvalue()
