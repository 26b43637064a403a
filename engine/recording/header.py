"""`Header`: the first line of a recording, which says how to read the others."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.recording.kinds import RecordingError, Schema, schema

FORMAT, VERSION = "batchscope recording", 1


@dataclass(frozen=True, slots=True)
class Header:
    """What a recording is of.

    Attributes:
        about: what the writer wanted to say of the run; any JSON object.
        schema: the fields of every record, in order.
    """

    about: Mapping[str, Any] = field(default_factory=dict)
    schema: Schema = field(default_factory=schema)

    def to_line(self) -> bytes:
        """The header as it stands in the file."""
        table = {"format": FORMAT, "version": VERSION, "about": self.about, "schema": self.schema}
        return json.dumps(table, separators=(",", ":")).encode("ascii") + b"\n"


def read_header(line: bytes) -> Header:
    """Read the first line of a file.

    Raises:
        RecordingError: the file is no recording, or one that this version cannot read.
    """
    try:
        table = json.loads(line)
    except ValueError:
        table = None
    if not isinstance(table, dict) or table.get("format") != FORMAT:
        raise RecordingError("this is no recording of batchscope; its first line has no header")
    version = table.get("version")
    if version != VERSION:
        raise RecordingError(f"written in format {version!r}; this batchscope reads {VERSION}")
    if not isinstance(table.get("about"), dict) or not _is_schema(table.get("schema")):
        raise RecordingError("the header is damaged: 'about' or 'schema' is not as it should be")
    return Header(table["about"], table["schema"])


def _is_schema(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(names, list) and all(isinstance(name, str) for name in names)
        for names in value.values()
    )
