"""`WrappedText`: a growing text broken into lines of a width, a token at a time."""

from __future__ import annotations

import re

from rich.cells import cell_len, chop_cells

_WORDS = re.compile(r"\S+|[^\S\n]+|\n")


class WrappedText:
    """Only the last line is ever wrapped again, so adding a token costs the same at any length.

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

    @property
    def num_lines(self) -> int:
        """Lines ever begun."""
        return self.num_dropped + len(self.done) + 1

    def add(self, text: str) -> None:
        for word in _WORDS.findall(text):
            self._add_word(word)
        excess = len(self.done) - self._max_lines
        if excess > 0:
            del self.done[:excess]
            self.num_dropped += excess

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
