"""`TraceFile`: the rows of a trace, however often they are wanted."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from engine.config import ConfigError, suggest
from engine.traces.formats import FORMATS, detect
from engine.traces.readers import Record
from engine.traces.records import Records
from engine.traces.row import Row, RowError
from engine.traces.tally import Tally

EVERY = 4096  # rows between two reports of progress


class TraceFile:
    """A file and its format.

    Args:
        format_name: one of `FORMATS`, or `auto` for the one that its first record shows.
        where: only rows with these values, by the names in the file.

    Raises:
        ConfigError: there is no such file or format, or the file is of another kind.
    """

    def __init__(
        self, path: Path, format_name: str = "auto", where: Mapping[str, str] | None = None
    ) -> None:
        self.path = path
        self.where = dict(where or {})
        if format_name != "auto" and format_name not in FORMATS:
            hint = suggest(format_name, FORMATS)
            raise ConfigError(f"{format_name!r} is unknown; {hint}", ("format",))
        first = self._first_record()
        found = detect(first) if format_name == "auto" else format_name
        if found is None or not FORMATS[found].fits(first):
            raise ConfigError(self._what_it_is(first, format_name), place=str(path))
        self.format_name = found
        self.format = FORMATS[found]

    @property
    def num_bytes(self) -> int:
        return self.path.stat().st_size

    def rows(
        self, tally: Tally, on_progress: Callable[[int], object] = lambda done: None
    ) -> Iterator[Row]:
        """Read all rows that can be read and are wanted, in the order of the file.

        Args:
            tally: counts what is read, and what is dropped here.
            on_progress: told now and then how many bytes were read.

        Raises:
            ConfigError: the file cannot be read to its end.
        """
        unwrap = _Unwrapper(self.format.wraps, tally)
        with self.path.open("rb") as file:
            records = Records(file, self.path)
            for record in records:
                tally.num_read += 1
                if tally.num_read % EVERY == 0:
                    on_progress(records.num_bytes_read)
                try:
                    yield unwrap(self._read(record))
                except RowError as reason:
                    tally.dropped[str(reason)] += 1
        on_progress(self.num_bytes)

    def sha256(self) -> str:
        """The checksum of the whole file, in hexadecimal."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def _read(self, record: Record | RowError) -> Row:
        if isinstance(record, RowError):
            raise record
        if any(str(record.get(key, "")) != str(value) for key, value in self.where.items()):
            raise RowError("that are not asked for")
        try:
            return self.format.read(record)
        except (KeyError, TypeError, AttributeError):
            raise RowError("without what the format needs") from None

    def _first_record(self) -> Record:
        """The names in the header, or the first record that can be read.

        Raises:
            ConfigError: there is none.
        """
        try:
            with self.path.open("rb") as file:
                records = Records(file, self.path)
                if records.header is not None:
                    return records.header
                for record in records:
                    if not isinstance(record, RowError):
                        return record
        except OSError as error:
            raise ConfigError(f"cannot be read: {error.strerror}", place=str(self.path)) from None
        raise ConfigError("no row of it can be read", place=str(self.path))

    def _what_it_is(self, first: Record, wanted: str) -> str:
        names = ", ".join(str(name)[:40] for name in list(first)[:8])
        kind = "no trace of a known format" if wanted == "auto" else f"no {wanted} trace"
        return f"this is {kind}; found: {names}; known: {', '.join(FORMATS)}"


class _Unwrapper:
    """Lets a clock that begins again go on."""

    def __init__(self, period: int | None, tally: Tally) -> None:
        self._period = period
        self._tally = tally
        self._last = 0
        self._shift = 0

    def __call__(self, row: Row) -> Row:
        if self._period is None or row.stamp is None:
            return row
        if row.stamp < self._last - self._period // 2:
            self._shift += self._period
            self._tally.note("its clock began again at some row; the rows from there come later")
        self._last = row.stamp
        return replace(row, stamp=row.stamp + self._shift) if self._shift else row
