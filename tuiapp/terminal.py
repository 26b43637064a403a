"""Whether somebody looks."""

from __future__ import annotations

import sys


def is_terminal() -> bool:
    """Whether output goes to a terminal, so that a screen can be shown."""
    return sys.stdout.isatty()
