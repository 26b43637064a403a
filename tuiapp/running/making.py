"""`make_runs`: one engine after the other, as often as is wanted, until the user breaks off."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.text import Text

from tuiapp.running.headless import Sink
from tuiapp.running.outcome import Outcome, unite
from tuiapp.running.outputs import OutputFiles
from tuiapp.running.progress import progress
from tuiapp.text import one_line

Make = Callable[[Sequence[Sink], Callable[[int, int], None]], Outcome]


@dataclass(frozen=True, slots=True)
class Made:
    """What runs came to.

    Attributes:
        outcomes: by engine, in order.
        is_broken_off: the user ended it before all runs were made.
    """

    outcomes: tuple[Outcome, ...]
    is_broken_off: bool


def make_runs(
    makes: Mapping[str, Make],
    files: OutputFiles,
    about: Mapping[str, Any],
    repeats: int = 1,
) -> Made:
    """Make the runs in turn, so that what disturbs the machine for a while disturbs all alike.

    Args:
        about: what a recording says of each, beside its engine.
        repeats: how often each is made. Of one that is broken off its earlier runs count alone.
    """
    runs: dict[str, list[Outcome]] = {}
    wanted = [(number, name) for number in range(1, repeats + 1) for name in makes]
    for name, outcome in _make_each(wanted, makes, files, about):
        if outcome.is_over or name not in runs:
            runs.setdefault(name, []).append(outcome)
    is_whole = sum(len([each for each in made if each.is_over]) for made in runs.values())
    return Made(tuple(map(unite, runs.values())), is_broken_off=is_whole < len(wanted))


def _make_each(
    wanted: Sequence[tuple[int, str]],
    makes: Mapping[str, Make],
    files: OutputFiles,
    about: Mapping[str, Any],
) -> Iterator[tuple[str, Outcome]]:
    """The runs in order, each with the name of its engine; the last one may be broken off."""
    console, told = Console(stderr=True), set[str]()
    for number, name in wanted:
        title = name if number == 1 else f"{name} run {number}"
        try:
            with (
                files.follow(title, {**about, "variant": name}, is_drawn=number == 1) as sinks,
                progress(console, title) as advance,
            ):
                outcome = makes[name](sinks, advance)
        except KeyboardInterrupt:  # while a model was loading
            return
        yield name, outcome
        for complaint in outcome.complaints:
            words = f"{one_line(name)}: {one_line(complaint)}"
            if words not in told:
                console.print(Text(words, style="yellow"), soft_wrap=True)
            told.add(words)
        if outcome.is_interrupted:
            return
