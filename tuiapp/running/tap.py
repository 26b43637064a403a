"""`Tap`: records what an engine logs while a screen shows it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.log import EventLog
from engine.recording import RecordingError, RecordingWriter


class Tap:
    """Reads a log beside its other readers and writes it down; nothing else waits for it.

    Raises:
        RecordingError: the file cannot be written.
    """

    def __init__(self, log: EventLog, path: Path, about: Mapping[str, Any]) -> None:
        self._log = log
        self._position = 0
        self._is_over = False
        self._writer = RecordingWriter(path, about)

    def drain(self) -> None:
        """Write what is new; nothing once the file could not be written.

        Raises:
            RecordingError: the file cannot be written any more.
        """
        events, self._position = self._log.since(self._position)
        if self._is_over:
            return
        try:
            self._writer.write(events)
        except RecordingError:
            self._is_over = True
            raise

    def close(self) -> None:
        """Write what is new, and end the file.

        Raises:
            RecordingError: it cannot be written.
        """
        self.drain()
        if not self._is_over:
            self._writer.close()
