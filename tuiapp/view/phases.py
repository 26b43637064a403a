"""What a slot does in one forward pass, with the glyph that says so without colour."""

from __future__ import annotations

from enum import Enum


class Phase(Enum):
    """The phases of a cell of the timeline; the values name their colours in a theme."""

    FREE = "free"
    PREFILL = "prefill"
    DECODE = "decode"
    LAST = "last"
    STALLED = "stalled"
    HELD = "held"
    EVICTED = "evicted"


GLYPHS = {
    Phase.FREE: " ",
    Phase.PREFILL: "▒",
    Phase.DECODE: "─",
    Phase.LAST: "●",
    Phase.STALLED: "┄",
    Phase.HELD: "░",
    Phase.EVICTED: "✗",
}
ASCII_GLYPHS = {
    Phase.FREE: " ",
    Phase.PREFILL: "#",
    Phase.DECODE: "=",
    Phase.LAST: "o",
    Phase.STALLED: "-",
    Phase.HELD: ":",
    Phase.EVICTED: "x",
}
LABELLED = (Phase.PREFILL, Phase.DECODE, Phase.HELD, Phase.STALLED)  # may bear a name
WORDS = {
    Phase.PREFILL: "prefill",
    Phase.DECODE: "decode",
    Phase.LAST: "last token",
    Phase.STALLED: "stalled",
    Phase.HELD: "held, no work",
    Phase.EVICTED: "evicted",
}
