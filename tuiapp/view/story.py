"""`Story`: one sentence on what can be seen right now."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Story:
    """A point made, what follows from it, and a hint which key would change it.

    Attributes:
        about: the request that it is about, if it is about one.
    """

    point: str
    rest: str = ""
    hint: str = ""
    about: str | None = None

    def __str__(self) -> str:
        return f"{self.point}{self.rest}{self.hint}"
