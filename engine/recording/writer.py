"""`RecordingWriter`: events to a file, as they happen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from engine.events import Event, Keyframe
from engine.recording.encoder import encode
from engine.recording.header import Header
from engine.recording.index import Index, Mark, index_lines
from engine.recording.kinds import RecordingError
from engine.recording.progress import LiveRequests


class RecordingWriter:
    """Streams events to a file; what `write` was given is with the system when it returns.

    So a process that is killed leaves a file which can be read up to there. Memory is bounded by
    the requests that are live, and one mark every few hundred passes.

    Args:
        path: replaced if it is there.
        about: what the run is, for whoever reads; any JSON object.

    Raises:
        RecordingError: the file cannot be written.
    """

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        self._path = path
        self._live = LiveRequests()
        self._marks: list[Mark] = []
        self._time = 0.0
        header = Header(about).to_line()
        self._offset, self._line = len(header), 2
        try:
            self._file = path.open("wb", buffering=0)
        except OSError as error:
            raise self._unwritable(error) from None
        self._put(header)

    def write(self, events: Iterable[Event]) -> None:
        """Append events.

        Raises:
            RecordingError: the file cannot be written any more, as where the disk is full.
        """
        lines: list[bytes] = []
        for event in events:
            if not self._marks:
                self._mark(event.time, 0)
            self._live.feed(event)
            if isinstance(event, Keyframe):
                self._mark(event.time, event.index)
                self._append(event, lines)
                self._append(self._live.checkpoint(event), lines)
            else:
                self._append(event, lines)
        if lines:
            self._put(b"".join(lines))

    def close(self) -> None:
        """Write the index and end the file; nothing can be written afterwards.

        Raises:
            RecordingError: it cannot be written.
        """
        if self._file.closed:
            return
        marks = tuple(self._marks) or (Mark(self._offset, self._line, 0.0, 0),)
        try:
            self._put(index_lines(Index(marks, self._offset, self._time, is_closed=True)))
        finally:
            self._file.close()

    def _mark(self, time: float, index: int) -> None:
        self._marks.append(Mark(self._offset, self._line, time, index))

    def _append(self, event: Event, lines: list[bytes]) -> None:
        line = encode(event)
        lines.append(line)
        self._offset += len(line)
        self._line += 1
        self._time = max(self._time, event.time)

    def _put(self, data: bytes) -> None:
        """Hand bytes to the system, which may take them in several goes."""
        left = memoryview(data)
        try:
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:
            self._file.close()
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> RecordingError:
        return RecordingError(f"cannot be written: {error.strerror}", place=str(self._path))
