"""Colours: one palette for every phase, told apart under colour blindness too.

After Okabe and Ito (2008), "Color Universal Design"; the phases also differ by glyph.
"""

from __future__ import annotations

from textual.theme import Theme

PREFIX = "batchscope-"  # of the names of our own

DARK_INKS = {
    "muted": "#8b9cab",
    "faint": "#4d5b68",
    "phase-free": "#141a21",
    "phase-free-ink": "#3a4450",
    "phase-prefill": "#E69F00",
    "phase-prefill-ink": "#3a2800",
    "phase-decode": "#0a4f80",
    "phase-decode-ink": "#a8d8f8",
    "phase-last": "#009E73",
    "phase-last-ink": "#001a12",
    "phase-stalled": "#1f4257",
    "phase-stalled-ink": "#b5d3e6",
    "phase-held": "#40302a",
    "phase-held-ink": "#c4a494",
    "phase-evicted": "#CC79A7",
    "phase-evicted-ink": "#2b0019",
}
LIGHT_INKS = DARK_INKS | {
    "muted": "#5b6b7a",
    "faint": "#a9b4be",
    "phase-free": "#eef1f4",
    "phase-free-ink": "#8d99a5",
    "phase-decode": "#9fd0ee",
    "phase-decode-ink": "#0b4468",
    "phase-stalled": "#c3d6e2",
    "phase-stalled-ink": "#2f4757",
    "phase-held": "#dccbbf",
    "phase-held-ink": "#5c483d",
}
HIGH_CONTRAST_INKS = {
    "muted": "#c8d2dc",
    "faint": "#7d8a96",
    "phase-free": "#000000",
    "phase-free-ink": "#7d8a96",
    "phase-prefill": "#ffb733",
    "phase-prefill-ink": "#000000",
    "phase-decode": "#0055a4",
    "phase-decode-ink": "#ffffff",
    "phase-last": "#2be0a8",
    "phase-last-ink": "#000000",
    "phase-stalled": "#29404f",
    "phase-stalled-ink": "#ffffff",
    "phase-held": "#5a3a2c",
    "phase-held-ink": "#ffffff",
    "phase-evicted": "#ff9ed2",
    "phase-evicted-ink": "#000000",
}

DARK = Theme(
    name="batchscope-dark",
    dark=True,
    primary="#56B4E9",
    secondary="#8aa0b3",
    accent="#F0C05A",
    foreground="#dce3ea",
    background="#0f1419",
    surface="#141a21",
    panel="#1b242d",
    success="#009E73",
    warning="#E69F00",
    error="#E8703A",
    variables={
        "border": "#56B4E9",
        "border-blurred": "#2b3946",
        "footer-key-foreground": "#56B4E9",
        **DARK_INKS,
    },
)
LIGHT = Theme(
    name="batchscope-light",
    dark=False,
    primary="#00659E",
    secondary="#566573",
    accent="#8a5a00",
    foreground="#1c2733",
    background="#ffffff",
    surface="#f6f8fa",
    panel="#e6ebf0",
    success="#00724f",
    warning="#8a5a00",
    error="#B23A00",
    variables={
        "border": "#00659E",
        "border-blurred": "#c3ccd5",
        "footer-key-foreground": "#00659E",
        **LIGHT_INKS,
    },
)
HIGH_CONTRAST = Theme(
    name="batchscope-high-contrast",
    dark=True,
    primary="#7ed0ff",
    secondary="#d0d8e0",
    accent="#ffe14d",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#101820",
    success="#2be0a8",
    warning="#ffb733",
    error="#ff8a66",
    variables={
        "border": "#7ed0ff",
        "border-blurred": "#8b9cab",
        "footer-key-foreground": "#7ed0ff",
        **HIGH_CONTRAST_INKS,
    },
)
THEMES = (DARK, LIGHT, HIGH_CONTRAST)
OWNERS = (  # ink and paper of a request's blocks
    ("#ffffff", "#0072B2"),
    ("#101418", "#56B4E9"),
    ("#101418", "#009E73"),
    ("#101418", "#F0E442"),
    ("#101418", "#E69F00"),
    ("#101418", "#D55E00"),
    ("#101418", "#CC79A7"),
    ("#101418", "#9a9a9a"),
)
