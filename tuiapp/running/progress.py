"""How far a run is: a bar on a terminal, a line now and then where stderr goes elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)

from tuiapp.text import one_line

LINE_SECONDS = 10.0

Advance = Callable[[int, int], None]


@contextmanager
def progress(console: Console, name: str) -> Iterator[Advance]:
    """What to tell how many requests have ended, of how many.

    A bar is gone when the run is over; lines stay, and a run of a few seconds has none.
    """
    if not console.is_terminal:
        yield Lines(console, name)
        return
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    label = TextColumn("{task.description}", markup=False)
    with Progress(label, *columns, console=console, transient=True) as bar:
        yield Bar(bar, name)


class Bar:
    """Moves a bar, and leaves it alone while nothing has changed."""

    def __init__(self, bar: Progress, name: str) -> None:
        self._bar = bar
        self._task = bar.add_task(one_line(name), total=None)
        self._shown: tuple[int, int] | None = None

    def __call__(self, done: int, total: int) -> None:
        if (done, total) != self._shown:
            self._shown = (done, total)
            self._bar.update(self._task, completed=done, total=total)


class Lines:
    """Prints a line when something is told, ten seconds after the last one at the earliest."""

    def __init__(
        self, console: Console, name: str, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._console = console
        self._name = one_line(name)
        self._now = now
        self._began = self._last = now()

    def __call__(self, done: int, total: int) -> None:
        now = self._now()
        if now < self._last + LINE_SECONDS:
            return
        self._last = now
        line = f"{self._name}: {done} of {total} requests after {now - self._began:.0f} s"
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)
