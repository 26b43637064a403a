"""What requests of a class may have in common: clients that go away, prefixes, a text of theirs.

Each is a table of a preset that changes drafts and draws from a random stream of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from engine.checks import require, require_natural, require_positive
from engine.generate.draft import Draft
from engine.generate.streams import stream


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelling:
    """Clients that do not wait for the end of their answer.

    Attributes:
        fraction: share of the clients that go away.
        after_s: seconds after they asked; or `after_tokens`: once so many tokens have reached
            them, which never happens where an answer comes as a whole.
    """

    fraction: float = 1.0
    after_s: float | None = None
    after_tokens: int | None = None

    def __post_init__(self) -> None:
        require(0 <= self.fraction <= 1, f"fraction must be 0 to 1, got {self.fraction}")
        check_patience(self.after_s, self.after_tokens)
        is_one = (self.after_s is None) != (self.after_tokens is None)
        require(is_one, "one of after_s and after_tokens must be given, and not both")

    def apply(self, drafts: Sequence[Draft], seed: int, name: str) -> list[Draft]:
        """The drafts, some with an end to their clients' patience."""
        goes = stream(seed, name, "cancel").random(len(drafts)) < self.fraction
        return [
            self._limit(draft) if leaves else draft
            for draft, leaves in zip(drafts, goes, strict=True)
        ]

    def _limit(self, draft: Draft) -> Draft:
        seconds, tokens = self.after_s, self.after_tokens
        return replace(draft, cancel_after_s=seconds, cancel_after_tokens=tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """Prompts that begin alike, as with a system prompt.

    Attributes:
        groups: so many different beginnings.
        tokens: length of each; it comes on top of the prompt's own length.
    """

    groups: int = 1
    tokens: int

    def __post_init__(self) -> None:
        require_positive(groups=self.groups, tokens=self.tokens)

    def apply(self, drafts: Sequence[Draft], seed: int, name: str) -> list[Draft]:
        """The drafts, each with the beginning of one group."""
        groups = stream(seed, name, "prefix").integers(self.groups, size=len(drafts))
        return [
            replace(draft, group=int(group), num_prefix_tokens=self.tokens)
            for draft, group in zip(drafts, groups, strict=True)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """What prompts are cut from.

    Attributes:
        source: the shipped corpus, or a file.
        path: of the file, from the folder of the preset.
    """

    source: Literal["corpus", "file"] = field(default="corpus", metadata={"key": "from"})
    path: str = ""

    def __post_init__(self) -> None:
        has_path = bool(self.path)
        require(has_path == (self.source == "file"), 'path is needed with from = "file", only')

    def apply(self, drafts: Sequence[Draft], folder: Path) -> list[Draft]:
        """The drafts, to be cut from the file where there is one.

        Raises:
            ValueError: there is no such file.
        """
        if not self.path:
            return list(drafts)
        path = folder / Path(self.path).expanduser()
        require(path.is_file(), f"path names no file: {path}")
        require(bool(path.read_text("utf-8").strip()), f"path names an empty file: {path}")
        return [replace(draft, filler=str(path)) for draft in drafts]


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What a class and closed-loop clients may say of their requests.

    Attributes:
        cancel: whose clients go away early; None for nobody's.
        prefix: prompts that begin alike; None for none.
        text: what prompts are cut from.
        priority: of all of them; the lower comes first.
    """

    cancel: Cancelling | None = None
    prefix: Prefix | None = None
    text: Text = field(default_factory=Text)
    priority: int = 0

    def give(self, drafts: Sequence[Draft], seed: int, name: str, folder: Path) -> list[Draft]:
        """The drafts with all that they have in common.

        Raises:
            ValueError: the text's file is not there.
        """
        given = self.text.apply(drafts, folder)
        if self.priority:
            given = [replace(draft, priority=self.priority) for draft in given]
        for trait in (self.cancel, self.prefix):
            given = trait.apply(given, seed, name) if trait else given
        return given


def check_patience(after_s: float | None, after_tokens: int | None) -> None:
    """Insist on a patience that can be.

    Raises:
        ValueError: it is negative, or of no token.
    """
    require_natural(after_s=after_s or 0.0)
    require_positive(after_tokens=1 if after_tokens is None else after_tokens)
