"""Tables of a preset file about the story itself, as dataclasses that `engine.config` fills."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

from engine.checks import require, require_natural, require_positive


class Need(Enum):
    """What a device must be like for the claims about time to hold."""

    MEMORY_BOUND = "memory_bound"  # a pass costs little more with more rows in it


class Op(Enum):
    """How the two sides of a claim compare."""

    AT_LEAST = ">="
    AT_MOST = "<="

    def holds(self, left: float, right: float) -> bool:
        return left >= right if self is Op.AT_LEAST else left <= right


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a preset is and what to look at.

    Attributes:
        id: the name of the file without its ending.
        watch: what to look at while it runs.
        source: where the story comes from.
        order: place in the list; equal ones go by name.
        seed: of every random stream of the workload.
        max_seconds: no request arrives later, before `pace`.
        max_requests: so many at most, the first to arrive; those that wait for an answer count
            as arriving last.
        pace: all times of the workload are multiplied by it; `steps` takes how long a decoding
            pass takes on the device at hand, against 12 ms.
        needs: on a device without these, claims about time may not hold.
    """

    id: str
    title: str
    summary: str
    watch: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    source: str = ""
    order: int = 100
    seed: int = 0
    max_seconds: float | None = None
    max_requests: int | None = None
    pace: float | Literal["steps"] = 1.0
    needs: tuple[Need, ...] = ()

    def __post_init__(self) -> None:
        require(bool(self.title), "title must not be empty")
        require_natural(seed=self.seed, max_seconds=self.max_seconds or 0.0)
        require_positive(pace=self.fixed_pace)
        require_positive(max_requests=1 if self.max_requests is None else self.max_requests)

    @property
    def is_paced_in_steps(self) -> bool:
        """Whether the device at hand decides the pace."""
        return self.pace == "steps"

    @property
    def fixed_pace(self) -> float:
        """What times are multiplied by on every device."""
        return self.pace if isinstance(self.pace, float) else 1.0


@dataclass(frozen=True, slots=True)
class Variant:
    """The same requests again, with some settings of the engine changed.

    Attributes:
        changes: fields of `EngineSettings` and their values.
    """

    name: str
    changes: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What the runs of a preset should show.

    `metric` of the variant `left` is at least, or at most, `value`, or `factor` times the same
    metric of the variant `right`.

    Attributes:
        label: the requests that count; empty for all.
        right_label: those that count on the right, `label` if empty.
        source: who says so.
        simulated: the metric of `left`, and that of `right` where there is one, under the linear
            cost model on a virtual clock.
    """

    text: str
    metric: str
    left: str
    op: Op
    right: str = ""
    value: float | None = None
    factor: float = 1.0
    label: str = field(default="", metadata={"key": "class"})
    right_label: str = field(default="", metadata={"key": "right_class"})
    source: str = ""
    simulated: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        num_sides = 2 if self.right else 1
        is_whole = len(self.simulated) in (0, num_sides)
        require(is_whole, f"simulated must be {num_sides} numbers, got {len(self.simulated)}")
        is_one = bool(self.right) != (self.value is not None)
        require(is_one, "one of right and value must be given, and not both")
        require_positive(factor=self.factor)
