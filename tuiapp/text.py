"""Make text from models and users safe to put into a grid of cells."""

from __future__ import annotations

import re
import unicodedata

# C0 and C1 controls but not the line feed, zero-width direction marks, bidi overrides and
# isolates, line and paragraph separators, and variation selectors, whose width terminals dispute.
_UNSAFE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_JOINED = re.compile("[\u200d\ufe0f]")


def clean(text: str) -> str:
    """Text with no escape sequences, no direction overrides, no tabs and no joiners.

    Line feeds stay; a removed control is shown as the replacement character, so that it is seen.
    """
    text = _JOINED.sub("", text.replace("\r\n", "\n").replace("\t", "    "))
    return unicodedata.normalize("NFC", _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text))


def one_line(text: str) -> str:
    """The same on a single line."""
    return " ".join(clean(text).split())


def as_file_name(name: str) -> str:
    """A name that a file may have anywhere, however a user called the thing."""
    return re.sub(r"[^\w.-]+", "-", name)
