"""The contract between batcher, runner and engine: a `Plan` goes in, tokens come out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, NamedTuple, Protocol

from engine.queues import Queues
from engine.request import Sequence


class Row(NamedTuple):
    """`num_tokens` tokens of one sequence to compute in this step.

    Zero tokens is a dead row: the sequence is finished but its slot in a rectangular
    batch is not free yet, so it still costs time. A tuple, because a plan makes one for every
    sequence, and a frozen dataclass takes twice as long.
    """

    seq: Sequence
    num_tokens: int

    @property
    def samples(self) -> bool:
        """Whether the row reaches the end of its sequence and so yields a new token.

        True before the pass is launched only: then the sequence moves on.
        """
        seq = self.seq
        return 0 < self.num_tokens == len(seq.token_ids) - seq.num_computed


class SkipReason(Enum):
    """Why a waiting sequence was not admitted."""

    SLOTS = "slots"
    BUDGET = "budget"
    BLOCKS = "blocks"
    POLICY = "policy"
    COMPANY = "company"
    LONG_PROMPTS = "long prompts"
    RATIO = "ratio"


@dataclass(frozen=True, slots=True)
class Skip:
    """Why the head of the queue had to wait, with the numbers that decided it.

    Attributes:
        needed, available: in slots, tokens, blocks or requests, as `reason` says.
        until: seconds on the clock when the wait ends at the latest, where that is known.
    """

    request_id: str
    reason: SkipReason
    needed: int = 0
    available: int = 0
    until: float | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """One forward pass.

    Attributes:
        rows: what to compute; empty means there is nothing to do now.
        rectangular: rows are padded to the longest one, as in request-level batching.
        wake_at: with no rows, seconds on the clock when `schedule` may decide otherwise.
        skipped: why the head of the queue was not admitted, and perhaps another one that was to
            pass it.
    """

    rows: tuple[Row, ...] = ()
    rectangular: bool = False
    wake_at: float | None = None
    skipped: tuple[Skip, ...] = ()

    @property
    def num_tokens(self) -> int:
        """Useful tokens, padding not counted."""
        return sum([row.num_tokens for row in self.rows])

    @property
    def width(self) -> int:
        """Tokens in the longest row."""
        return max((row.num_tokens for row in self.rows), default=0)

    @property
    def num_slots(self) -> int:
        """Token positions the forward pass computes, padding and dead rows counted."""
        return len(self.rows) * self.width if self.rectangular else self.num_tokens


class Batcher(Protocol):
    """A batching policy. Implementations are frozen dataclasses: settings, no state.

    Attributes:
        request_level: a batch is admitted and answered as one, as before Orca (Yu et al. 2022).
    """

    request_level: ClassVar[bool]

    def schedule(self, queues: Queues, now: float) -> Plan:
        """Decide the next forward pass, moving sequences between the queues as needed."""
        ...


@dataclass(frozen=True, slots=True)
class PassTiming:
    """What a runner measured of one pass, in seconds; zeros where it measures nothing.

    Attributes:
        prepare: in `launch`, making tensors of the plan.
        sample: in `launch`, the calls that choose tokens.
        device: the device computed.
    """

    prepare: float = 0.0
    sample: float = 0.0
    device: float = 0.0


class Launch(Protocol):
    """A forward pass under way.

    Attributes:
        mode: how the runner runs it, as in `graph 8` or `eager: prefill`; empty where it has but
            one way.
        timing: what was measured; whole once `result` has returned.
    """

    @property
    def mode(self) -> str: ...

    @property
    def timing(self) -> PassTiming: ...

    def result(self) -> list[int]:
        """Wait for the pass.

        Returns:
            One token id for each row that `samples`, in row order.

        Raises:
            RunnerError: the pass failed; the engine fails the sequences of the plan.
        """
        ...


class Runner(Protocol):
    """Executes plans: on a device (`TorchRunner`) or on paper (`SimRunner`)."""

    def launch(self, plan: Plan) -> Launch:
        """Begin one forward pass and return while the device works.

        Raises:
            RunnerError: the pass could not begin.
        """
        ...

    def resize(self, num_blocks: int, block_size: int) -> None:
        """Make the KV cache that large; what it holds may be lost.

        Raises:
            RunnerError: there is no memory for it; the old cache stays.
            CacheLostError: that showed only once the old one was gone; an empty one of the old
                size stands in its place.
        """
        ...


@dataclass(frozen=True, slots=True)
class Done:
    """A pass that ended before `launch` returned; for runners that do not overlap."""

    token_ids: list[int]
    mode: str = ""
    timing: PassTiming = PassTiming()

    def result(self) -> list[int]:
        return self.token_ids


class RunnerError(Exception):
    """A forward pass failed, for example for want of device memory."""


class CacheLostError(RunnerError):
    """What the KV cache held is gone; all that was computed has to be computed again."""
