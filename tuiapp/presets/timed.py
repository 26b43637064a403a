"""`TimedAction`: what a preset does at a moment, beside letting requests arrive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from engine.actions import Action, Cancel, Change, Note, Pick
from engine.checks import require, require_natural, require_positive
from engine.config import KeyPath, read_fields
from engine.settings import EngineSettings


class Do(Enum):
    """What to do."""

    CANCEL = "cancel"
    NOTE = "note"
    SET = "set"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedAction:
    """Clients go away, knobs are turned, or a note is shown.

    Attributes:
        label: of a single request that is cancelled; or `class`: of a class of them; with
            neither all are meant.
        pick, n: which of those that wait or run at that moment, and how many; all if not given.
        text: of a note.
        changes: fields of `EngineSettings` to change, in the table `set`.
    """

    at_s: float
    do: Do
    label: str = ""
    of_class: str = field(default="", metadata={"key": "class"})
    pick: Pick = Pick.OLDEST
    n: int | None = None
    text: str = ""
    changes: Mapping[str, Any] = field(default_factory=dict, metadata={"key": "set"})

    def __post_init__(self) -> None:
        require_natural(at_s=self.at_s)
        require_positive(n=1 if self.n is None else self.n)
        require(not (self.label and self.of_class), "label and class cannot be together")
        require(bool(self.text) == (self.do is Do.NOTE), "text is needed by a note, and only there")
        is_set = bool(self.changes) == (self.do is Do.SET)
        require(is_set, 'changes are needed in a table "set" with do = "set", and only there')
        is_cancel = self.do is Do.CANCEL
        has_whom = bool(self.label or self.of_class or self.n)
        require(is_cancel or not has_whom, "label, class and n are only for cancel")

    @property
    def meant(self) -> str:
        """The label of the requests that are meant; empty for all."""
        return self.label or self.of_class

    def settings(self, path: KeyPath = ()) -> dict[str, Any]:
        """The fields to change and their values.

        Raises:
            ConfigError: there is no such field, or its value is of the wrong type.
        """
        return read_fields(EngineSettings, self.changes, (*path, "set"))

    def action(self, pace: float, seed: int) -> Action:
        """What the engine is to do.

        Args:
            seed: of a random choice.
        """
        at = self.at_s * pace
        match self.do:
            case Do.CANCEL:
                return Cancel(at, self.meant, self.pick, self.n, seed)
            case Do.NOTE:
                return Note(at, self.text)
            case Do.SET:
                return Change(at, self.settings())
