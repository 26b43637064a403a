"""How often Python looks for garbage that reference counts do not find.

Every pass makes some records for each of its sequences, and the log keeps them. By its own
measure Python then searches several times a pass, and finds nothing: a fifth of a step with 1024
sequences. For a program as a whole to decide, so nothing here happens by an import.
"""

from __future__ import annotations

import gc

YOUNG = 50_000  # objects made and kept between two searches among the newest; Python has 700


def collect_seldom() -> None:
    """Search for cycles after that many objects; older ones as seldom, in relation, as before."""
    _, *older = gc.get_threshold()
    gc.set_threshold(YOUNG, *older)
