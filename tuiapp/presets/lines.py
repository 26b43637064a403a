"""In which line of a TOML file a key stands, for error messages.

`tomllib` does not say. This reads table headers and the beginnings of lines only; a multi-line
string that looks like TOML could mislead it, never the values themselves.
"""

from __future__ import annotations

import re

from engine.config import KeyPath

HEADER = re.compile(r"\s*\[\[?\s*([\w.\-]+)\s*\]")
KEY = re.compile(r"\s*\"?([\w\-]+)\"?\s*=")


def find_line(text: str, path: KeyPath) -> int | None:
    """The line, from 1, of a key or, where it is absent, of the table it should be in."""
    best, found = 0, None
    table: KeyPath = ()
    seen: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if header := HEADER.match(line):
            table = _place(header[1], seen, is_array="[[" in line)
            here = table
        elif key := KEY.match(line):
            here = (*table, key[1])
        else:
            continue
        shared = min(len(here), len(path))
        if shared > best and path[:shared] == here[:shared]:
            best, found = shared, number
    return found


def _place(name: str, seen: dict[str, int], *, is_array: bool) -> KeyPath:
    """The path of a table; tables of an array are counted in `seen`."""
    if not is_array:
        return tuple(name.split("."))
    seen[name] = seen.get(name, -1) + 1
    return (name, seen[name])
