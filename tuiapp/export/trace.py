"""Trace events: a run as Chrome trace events, which https://ui.perfetto.dev opens.

Every run is a process. Its threads are the engine, with a slice a forward pass, and the slots, with
a slice for each stretch of like work; requests are async spans from arrival to the last delivery;
counters show the queue, the slots, the cache and the tokens. The format is that of "Trace Event
Format" (Duca et al., 2016): times in microseconds, on each engine's own clock.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.config import ConfigError

ENGINE = 0  # the thread of the passes; slot n is thread n + 1
Record = dict[str, Any]


class TraceWriter:
    """Streams one file.

    Raises:
        ConfigError: the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = path.open("w", encoding="utf-8")
            self._file.write('{"displayTimeUnit":"ms","traceEvents":[\n')
        except OSError as error:
            raise self._unwritable(error) from None
        self._is_first = True

    def put(self, records: Sequence[Record]) -> None:
        """Append records.

        Raises:
            ConfigError: the file cannot be written any more.
        """
        try:
            for record in records:
                self._file.write("" if self._is_first else ",\n")
                self._is_first = False
                self._file.write(json.dumps(record, separators=(",", ":"), allow_nan=False))
        except OSError as error:
            raise self._unwritable(error) from None

    def close(self) -> None:
        """End the file; closing it again is harmless.

        Raises:
            ConfigError: it cannot be written.
        """
        if self._file.closed:
            return
        try:
            self._file.write("\n]}\n")
            self._file.close()
        except OSError as error:
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> ConfigError:
        return ConfigError(f"cannot be written: {error.strerror}", place=str(self._path))


@dataclass(frozen=True, slots=True)
class Process:
    """One run among those of a trace, and the events it can have. Times are in seconds.

    Attributes:
        pid: tells it from the others.
    """

    pid: int

    def metadata(self, kind: str, tid: int, args: Record) -> Record:
        """Says something of the process or of a thread, as `thread_name`."""
        return {**self._at("M", kind, 0.0, tid), "args": args}

    def complete(self, tid: int, name: str, began: float, seconds: float, args: Record) -> Record:
        """A slice on a thread."""
        return {**self._at("X", name, began, tid), "dur": seconds * 1e6, "args": args}

    def instant(self, tid: int, name: str, time: float, args: Record) -> Record:
        """A moment on a thread."""
        return {**self._at("i", name, time, tid), "s": "t", "args": args}

    def counter(self, name: str, time: float, values: Record) -> Record:
        """Numbers from this moment on."""
        return {**self._at("C", name, time, ENGINE), "args": values}

    def span(self, phase: str, request_id: str, time: float, args: Record) -> Record:
        """The begin `b`, a moment `n` or the end `e` of a request."""
        event = {**self._at(phase, request_id, time, ENGINE), "args": args}
        return {**event, "cat": "request", "id2": {"local": request_id}}

    def _at(self, phase: str, name: str, time: float, tid: int) -> Record:
        where = {"pid": self.pid, "tid": tid, "ts": time * 1e6}
        return {"ph": phase, "name": name, "cat": "engine", **where}
