"""Numbers with their nouns and verbs: one request waits, two requests wait."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """`1 pass`, `2 passes`."""
    plural = "es" if noun.endswith("s") else "s"
    return f"{number} {noun}{'' if number == 1 else plural}"


def verb(number: int, one: str, more: str) -> str:
    """The form that goes with the number: `is`, or `are`."""
    return one if number == 1 else more
