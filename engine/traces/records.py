"""From a file to records, one at a time: CSV with a header, JSON by the line, or a JSON array."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO

from engine.config import ConfigError
from engine.traces.readers import Record
from engine.traces.row import RowError

CHUNK = 1 << 16  # characters that are read at a time of a JSON array
LONGEST = 1 << 26  # characters of one element of it at most
BROKEN = "that are no JSON"
DECODER = json.JSONDecoder(parse_float=Decimal)


class Records:
    """The records of an open file.

    Args:
        file: opened in binary mode, at its beginning.

    Raises:
        ConfigError: it is empty, or is no text.
    """

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file = file
        self._path = path
        self._text = io.TextIOWrapper(file, encoding="utf-8-sig", newline=None)
        self._lead = self._find_lead()
        self.header: Record | None = None
        if self._lead[:1] not in "[{":
            self._csv = csv.DictReader(self._lines())
            self.header = dict.fromkeys(self._csv.fieldnames or (), "")

    @property
    def num_bytes_read(self) -> int:
        return self._file.tell()

    def __iter__(self) -> Iterator[Record | RowError]:
        """Every record, or why there is none in its place."""
        try:
            yield from self._records()
        except UnicodeDecodeError:
            raise ConfigError("it is not UTF-8", place=str(self._path)) from None
        except csv.Error as error:
            raise ConfigError(f"it is no CSV: {error}", place=str(self._path)) from None

    def _records(self) -> Iterator[Record | RowError]:
        if self.header is not None:
            yield from map(_check_row, self._csv)
        elif self._lead.startswith("["):
            yield from self._elements()
        else:
            yield from map(_load, self._lines())

    def _find_lead(self) -> str:
        """The first line that is not blank."""
        try:
            lead = next((line for line in self._text if line.strip()), "")
        except UnicodeDecodeError:
            raise ConfigError("it is not UTF-8", place=str(self._path)) from None
        if not lead:
            raise ConfigError("it is empty", place=str(self._path))
        return lead.lstrip()

    def _lines(self) -> Iterator[str]:
        """The lines that are not blank."""
        yield self._lead
        yield from (line for line in self._text if line.strip())

    def _elements(self) -> Iterator[Record | RowError]:
        """The elements of an array, which need not be in one line, nor each in its own.

        Raises:
            ConfigError: the array is broken, so that no later element can be found.
        """
        pending = self._lead[1:].lstrip()
        while True:
            if pending.startswith("]"):
                return
            try:
                element, end = DECODER.raw_decode(pending)
            except json.JSONDecodeError:
                more = self._text.read(CHUNK)
                if not more or len(pending) > LONGEST:
                    raise ConfigError("its JSON breaks off", place=str(self._path)) from None
                pending = (pending + more).lstrip()
                continue
            yield _check_object(element)
            pending = pending[end:].lstrip().removeprefix(",").lstrip()
            pending = pending or self._text.read(CHUNK).lstrip().removeprefix(",").lstrip()


def _check_row(row: dict[str, Any]) -> Record | RowError:
    if None in row or None in row.values():
        return RowError("with more or fewer fields than the header")
    return row


def _load(line: str) -> Record | RowError:
    try:
        return _check_object(json.loads(line, parse_float=Decimal))
    except json.JSONDecodeError:
        return RowError(BROKEN)


def _check_object(value: object) -> Record | RowError:
    return value if isinstance(value, Mapping) else RowError("that are no JSON object")
