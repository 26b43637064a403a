"""`Index`: where in a recording the keyframes lie, so that a reader can begin in the middle.

It is written behind the events when a recording is closed. One that was cut off has none, and
then it is rebuilt by a search for the lines that keyframes begin with.
"""

from __future__ import annotations

import json
import mmap
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

KEYFRAME, INDEX, END = b'["Keyframe",', b'["Index",', b'["End",'
TAIL = 256  # bytes, more than the last line takes


@dataclass(frozen=True, slots=True)
class Mark:
    """A place to begin reading.

    Attributes:
        offset: in bytes.
        line: number of the line there, from 1.
        time: seconds on the engine's clock.
        index: of the next forward pass.
    """

    offset: int
    line: int
    time: float
    index: int


@dataclass(frozen=True, slots=True)
class Index:
    """The beginning, then every keyframe.

    Attributes:
        end: offset behind the last event.
        last_time: of the last event, in seconds; the beginning's where there is none.
        is_closed: the recording was ended by its writer, rather than cut off.
    """

    marks: tuple[Mark, ...]
    end: int
    last_time: float
    is_closed: bool

    def before_time(self, time: float) -> int:
        """Which mark is the last at or before a moment; the first if none is."""
        return max(0, bisect_right(self.marks, time, key=lambda mark: mark.time) - 1)

    def before_pass(self, index: int) -> int:
        """Which mark is the last at or before a forward pass; the first if none is."""
        return max(0, bisect_right(self.marks, index, key=lambda mark: mark.index) - 1)


def index_lines(index: Index) -> bytes:
    """The last two lines of a recording: the index, and where it begins."""
    marks = [[mark.offset, mark.line, mark.time, mark.index] for mark in index.marks]
    lines = (["Index", marks], ["End", index.end, index.last_time])
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    return text.encode("ascii")


def read_index(file: BinaryIO) -> Index | None:
    """The index at the end of a recording; None where there is none, or a damaged one."""
    size = file.seek(0, 2)
    file.seek(max(0, size - TAIL))
    tail = file.read().splitlines(keepends=True)
    try:
        kind, end, last_time = json.loads(tail[-1])
        file.seek(int(end))
        name, marks = json.loads(file.readline())
        if (kind, name) != ("End", "Index") or not tail[-1].endswith(b"\n"):
            return None
        return Index(tuple(Mark(*mark) for mark in marks), int(end), float(last_time), True)
    except (ValueError, TypeError, IndexError):
        return None


def rebuild_index(
    file: BinaryIO, first: Mark, read: Callable[[Mark, bytes], tuple[float, int]]
) -> Index:
    """Search a recording that was cut off; a last line that is not complete does not count.

    Args:
        first: where the events begin.
        read: decodes the line at a mark to the time of its event and, of a keyframe, the pass.
    """
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        end = data.rfind(b"\n") + 1
        for ending in (END, INDEX):  # a damaged index, or what is left of it
            last = data.rfind(b"\n", 0, end - 1) + 1
            if data[last : last + len(ending)] == ending:
                end = last
        marks, at, line = [first], first.offset, first.line
        while (found := data.find(b"\n" + KEYFRAME, at - 1, end)) >= 0:
            line += data[at : found + 1].count(b"\n")
            at = found + 1
            mark = Mark(at, line, 0.0, 0)
            time, index = read(mark, data[at : data.find(b"\n", at) + 1])
            marks.append(Mark(at, line, time, index))
            at += 1
        return Index(tuple(marks), end, _last_time(data, marks[-1], end, read), False)


def _last_time(
    data: mmap.mmap, mark: Mark, end: int, read: Callable[[Mark, bytes], tuple[float, int]]
) -> float:
    """When the last event happened; that of the mark where none follows."""
    begin = data.rfind(b"\n", 0, end - 1) + 1
    if begin < mark.offset:
        return mark.time
    line = mark.line + data[mark.offset : begin].count(b"\n")
    return read(Mark(begin, line, 0.0, 0), data[begin:end])[0]
