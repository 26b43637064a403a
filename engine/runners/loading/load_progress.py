"""`counting_tensors`: how many tensors of a model were read, as the library counts them itself.

transformers draws bars: one that it lets others draw (`set_tqdm_hook`), and that of GGUF files,
which heeds no setting and goes to stderr. Neither may reach a terminal that a screen owns.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stderr
from typing import Any

from transformers.utils import logging

from engine.loading import LoadStage, LoadStep, Report

COUNTED = re.compile(r"(\d+)/(\d+) \[")  # in a bar of tqdm's


@contextmanager
def counting_tensors(report: Report, *, is_gguf: bool = False) -> Iterator[None]:
    """Report while a model is read, and keep every bar off the terminal."""
    if is_gguf:
        with redirect_stderr(BarReader(report)):
            yield
        return
    previous = logging.set_tqdm_hook(_counter(report))
    try:
        yield
    finally:
        logging.set_tqdm_hook(previous)


class BarReader(io.StringIO):
    """Takes in what a bar draws, and reports the numbers in it."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self._report = report

    def write(self, text: str) -> int:
        if found := COUNTED.search(text):
            self._report(LoadStep(LoadStage.WEIGHTS, int(found[1]), int(found[2])))
        return len(text)


def _counter(report: Report) -> Callable[..., Any]:
    """A hook that counts what is iterated over, and leaves other bars as they are."""

    def hook(make_bar: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        items = args[0] if args else options.get("iterable")
        if items is None or not hasattr(items, "__len__"):
            return make_bar(*args, **options)
        return _count(items, len(items), report)

    return hook


def _count(items: Iterable[Any], total: int, report: Report) -> Iterator[Any]:
    for done, item in enumerate(items, start=1):
        report(LoadStep(LoadStage.WEIGHTS, done, total))
        yield item
