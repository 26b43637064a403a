"""What happens to a running engine at a moment of a workload, beside the requests that arrive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Pick(Enum):
    """Which of the live requests are meant, where not all are."""

    OLDEST = "oldest"
    NEWEST = "newest"
    RANDOM = "random"


@dataclass(frozen=True, slots=True)
class Abort:
    """One client goes away; a request that has ended is left alone."""

    time: float
    request_id: str


@dataclass(frozen=True, slots=True)
class Cancel:
    """Some of those clients go away whose requests still wait or run.

    Attributes:
        label: of which requests; empty for all.
        count: so many at most; None for all.
        seed: of the choice, where it is random.
    """

    time: float
    label: str = ""
    pick: Pick = Pick.OLDEST
    count: int | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """Knobs are turned.

    Attributes:
        changes: fields of `EngineSettings` and their values.
    """

    time: float
    changes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Note:
    """Something for those who watch to read."""

    time: float
    text: str


Action = Abort | Cancel | Change | Note
