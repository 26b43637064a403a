"""Whether somebody looks."""

from __future__ import annotations

import os
import sys

DRIVER = "TEXTUAL_DRIVER"  # set by who shows Textual's screens elsewhere, as in a browser


def is_terminal() -> bool:
    """Whether output goes to a terminal or to its like, so that a screen can be shown."""
    return sys.stdout.isatty() or DRIVER in os.environ
