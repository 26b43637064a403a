"""`WrappedText`: a text broken into lines of a width, that grows and shrinks a token at a time."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

from rich.cells import cell_len, chop_cells

_WORDS = re.compile(r"\S+|[^\S\n]+|\n")


@dataclass(frozen=True, slots=True)
class _Mark:
    """Where the text stood when a line was done.

    Attributes:
        length: characters added by then.
        num_done: lines done by then, dropped ones too.
        current: the line begun.
    """

    length: int
    num_done: int
    current: str


class WrappedText:
    """Only the last line is ever wrapped again, so adding a token costs the same at any length.

    Taking one back does too, as long as the line that it is in was not dropped.

    Args:
        width: cells a line, at least 1.
        max_lines: older lines are dropped.
    """

    def __init__(self, width: int, max_lines: int = 500) -> None:
        self.width = max(1, width)
        self._max_lines = max_lines
        self.done: list[str] = []
        self.current = ""
        self.num_dropped = 0
        self._length = 0  # characters added
        self._marks: list[_Mark] = []

    @property
    def num_lines(self) -> int:
        """Lines ever begun."""
        return self.num_dropped + len(self.done) + 1

    def add(self, text: str) -> None:
        for word in _WORDS.findall(text):
            before = len(self.done)
            self._add_word(word)
            self._length += len(word)
            if len(self.done) > before:
                self._marks.append(_Mark(self._length, self.num_lines - 1, self.current))
        excess = len(self.done) - self._max_lines
        if excess > 0:
            del self.done[:excess]
            self.num_dropped += excess
            kept = bisect_left(self._marks, self.num_dropped, key=lambda mark: mark.num_done)
            del self._marks[:kept]  # nothing goes back to the others

    def cut(self, text: str) -> None:
        """Take back what was added behind this text, with which all that was added begins."""
        while self._marks and self._marks[-1].length > len(text):
            self._marks.pop()
        mark = self._marks[-1] if self._marks else _Mark(0, 0, "")
        if mark.num_done < self.num_dropped:
            self.done.clear()
            self._marks.clear()
            mark = _Mark(0, 0, "")
            self.num_dropped = 0
        del self.done[mark.num_done - self.num_dropped :]
        self.current, self._length = mark.current, mark.length
        self.add(text[mark.length :])

    def _add_word(self, word: str) -> None:
        if word.isspace() and self.num_lines == 1 and not self.current:
            return  # nothing at all stands before it
        if word == "\n":
            self._end_line(self.current, "")
        elif cell_len(self.current) + cell_len(word) <= self.width:
            self.current += word
        elif word.isspace():
            self._end_line(self.current, "")
        else:
            self._break_before(word)

    def _break_before(self, word: str) -> None:
        head, space, tail = self.current.rpartition(" ")
        if space and tail and cell_len(tail + word) <= self.width:
            self._end_line(head, tail + word)  # the token goes on with the last word
            return
        if self.current:
            self._end_line(self.current, "")
        *full, self.current = chop_cells(word, self.width) or [""]
        self.done.extend(full)

    def _end_line(self, line: str, rest: str) -> None:
        self.done.append(line.rstrip())
        self.current = rest
