"""`Recording`: a file of events, opened in a moment and read from wherever one likes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from engine.events import Configured, EngineInfo, Event, Keyframe, Ready
from engine.recording.decoder import Decoder
from engine.recording.header import Header, read_header
from engine.recording.index import Index, Mark, read_index, rebuild_index
from engine.recording.kinds import RecordingError
from engine.settings import EngineSettings


class Recording:
    """One recording; `events` may be called any number of times.

    Attributes:
        info, settings: what ran, and how it was set to begin with.

    Raises:
        RecordingError: the file cannot be read, is no recording, is damaged at its beginning, or
            was written by a later version. What lies further on is checked as it is read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                first = file.readline()
                self.header, self._decoder = self._begin(first)
                begin = Mark(len(first), 2, 0.0, 0)
                self.index: Index = read_index(file) or rebuild_index(file, begin, self._locate)
        except OSError as error:
            reason = error.strerror or "it is empty"
            raise RecordingError(f"cannot be read: {reason}", place=str(path)) from None
        self.info, self.settings = self._beginning()

    @property
    def duration(self) -> float:
        """Seconds on the engine's clock at the last event."""
        return self.index.last_time

    def events(self, mark: int = 0) -> Iterator[Event]:
        """Read on from a mark of the index to the end, one event at a time.

        Raises:
            RecordingError: a line is damaged; the message says which.
        """
        with self.path.open("rb") as file:
            yield from self._events(file, self.index.marks[mark])

    def _events(self, file: BinaryIO, mark: Mark) -> Iterator[Event]:
        at, number = file.seek(mark.offset), mark.line
        while at < self.index.end:
            line = file.readline()
            yield self._decode(line, number)
            at, number = at + len(line), number + 1

    def _decode(self, line: bytes, number: int) -> Event:
        try:
            return self._decoder.decode(line)
        except RecordingError as error:
            raise self._at(error, number) from None

    def _locate(self, mark: Mark, line: bytes) -> tuple[float, int]:
        try:
            return self._decoder.peek(line)
        except RecordingError as error:
            raise self._at(error, mark.line) from None

    def _at(self, error: RecordingError, number: int) -> RecordingError:
        """The same error, said to be in that line."""
        return RecordingError(error.problem, error.path, f"{self.path}:{number}")

    def _begin(self, line: bytes) -> tuple[Header, Decoder]:
        """What the first line says, and what reads the others."""
        try:
            header = read_header(line)
            return header, Decoder(header.schema)
        except RecordingError as error:
            raise self._at(error, 1) from None

    def _beginning(self) -> tuple[EngineInfo, EngineSettings]:
        """What the first events say.

        Raises:
            RecordingError: they do not say what ran.
        """
        info = None
        for event in self.events():
            match event:
                case Ready():
                    info = event.info
                case Configured(settings=settings) | Keyframe(settings=settings) if info:
                    return info, settings
                case _:
                    break
        raise RecordingError(
            "it does not begin with an engine and its settings", place=f"{self.path}:2"
        )
