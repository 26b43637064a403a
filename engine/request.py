"""What a client asks for (`Request`) and how far the engine got with it (`Sequence`)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

PENDING = -1  # stands for a token id that a pass under way has yet to sample


class Status(Enum):
    """Life of a sequence: WAITING -> RUNNING -> FINISHED, with RUNNING <-> PREEMPTED."""

    WAITING = "waiting"
    RUNNING = "running"
    PREEMPTED = "preempted"
    FINISHED = "finished"


class FinishReason(Enum):
    """Why a sequence finished, in the words of the OpenAI API where it has them."""

    STOP = "stop"
    LENGTH = "length"
    ABORT = "abort"
    REJECTED = "rejected"
    ERROR = "error"


COMPLETE = (FinishReason.STOP, FinishReason.LENGTH)  # of an answer that came to its own end

ALLOWED = {
    Status.WAITING: {Status.RUNNING, Status.FINISHED},
    Status.RUNNING: {Status.PREEMPTED, Status.FINISHED},
    Status.PREEMPTED: {Status.RUNNING, Status.FINISHED},
    Status.FINISHED: set[Status](),
}


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How the next token is chosen and when to stop; the names are vLLM's.

    Attributes:
        temperature: 0 is greedy.
        top_k: keep the k likeliest tokens, 0 keeps all.
        top_p: keep the likeliest tokens that reach this share of probability together.
        min_p: drop tokens less likely than this share of the likeliest one.
        seed: of the request's own stream of random numbers; None derives it from the id.
        max_tokens: output tokens at most, at least 1.
        min_tokens: output tokens before an end is allowed; the end token is masked until then.
        stop: strings that end the output and are never shown.
        stop_token_ids: any of these ends the sequence and is kept in its output.
        ignore_eos: mask the model's end token, so that the output always reaches `max_tokens`.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    seed: int | None = None
    max_tokens: int = 64
    min_tokens: int = 0
    stop: tuple[str, ...] = ()
    stop_token_ids: frozenset[int] = frozenset()
    ignore_eos: bool = False

    def problem(self) -> str | None:
        """What is wrong with the values and what would be right, or None."""
        wrong = (
            (
                not (math.isfinite(self.temperature) and self.temperature >= 0),
                f"temperature must be a finite number of at least 0, got {self.temperature}",
            ),
            (not 0 < self.top_p <= 1, f"top_p must be above 0 and at most 1, got {self.top_p}"),
            (not 0 <= self.min_p <= 1, f"min_p must be between 0 and 1, got {self.min_p}"),
            (self.top_k < 0, f"top_k must be at least 0 (0 keeps all), got {self.top_k}"),
            (self.max_tokens < 1, f"max_tokens must be at least 1, got {self.max_tokens}"),
            (
                not 0 <= self.min_tokens <= self.max_tokens,
                f"min_tokens must be 0 to max_tokens ({self.max_tokens}), got {self.min_tokens}",
            ),
            ("" in self.stop, "a stop string must not be empty"),
        )
        return next((message for is_wrong, message in wrong if is_wrong), None)


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt with its sampling parameters. Immutable, safe to share between threads.

    Attributes:
        arrival: seconds on the engine's clock.
        label: which part of the workload it belongs to, as in `short`; shown beside the id.
        cancel_after_tokens: the client goes away once so many tokens have reached it.
        priority: the lower comes first, as in vLLM, where the scheduling policy looks at it.
    """

    id: str
    prompt_token_ids: tuple[int, ...]
    sampling: SamplingParams = SamplingParams()
    arrival: float = 0.0
    label: str = ""
    cancel_after_tokens: int | None = None
    priority: int = 0

    @property
    def max_num_tokens(self) -> int:
        """Prompt and longest possible output together."""
        return len(self.prompt_token_ids) + self.sampling.max_tokens


class Answer(NamedTuple):
    """A client has all that it will get, be it much or nothing."""

    request_id: str
    token_ids: tuple[int, ...] = ()


@dataclass(slots=True, eq=False)
class Sequence:
    """A request in the engine; only the engine thread touches it.

    There is no separate prefill phase: every step moves `num_computed` towards
    `num_tokens`, and a sequence one token behind is decoding (the view of vLLM V1).

    Attributes:
        token_ids: prompt, then output; the newest may be `PENDING`.
        max_num_tokens: prompt and longest possible output together.
        num_computed: tokens whose keys and values are in the cache, or will be once the passes
            under way are done.
        block_table: ids of the blocks that hold them, in order.
        slot: the row of the timeline it owns while it runs.
        number: counts the sequences of an engine in the order in which they came.
        delayed_at: when it had waited as long as its timeout, since when it lets others pass.
    """

    request: Request
    token_ids: list[int] = field(init=False)
    num_prompt_tokens: int = field(init=False)
    max_num_tokens: int = field(init=False)
    num_computed: int = 0
    block_table: list[int] = field(default_factory=list)
    slot: int | None = None
    status: Status = Status.WAITING
    finish_reason: FinishReason | None = None
    num_preemptions: int = 0
    number: int = 0
    delayed_at: float | None = None

    def __post_init__(self) -> None:
        self.token_ids = list(self.request.prompt_token_ids)
        self.num_prompt_tokens = len(self.token_ids)
        self.max_num_tokens = self.request.max_num_tokens

    @property
    def id(self) -> str:
        return self.request.id

    @property
    def num_tokens(self) -> int:
        return len(self.token_ids)

    @property
    def num_output_tokens(self) -> int:
        return len(self.token_ids) - self.num_prompt_tokens

    @property
    def num_uncomputed(self) -> int:
        return len(self.token_ids) - self.num_computed

    @property
    def is_decoding(self) -> bool:
        """Whether only the newest output token is left to compute."""
        num_computed = self.num_computed
        return num_computed >= self.num_prompt_tokens and len(self.token_ids) - num_computed == 1

    @property
    def is_finished(self) -> bool:
        return self.status is Status.FINISHED

    def move_to(self, status: Status) -> None:
        """Change status.

        Raises:
            ValueError: the state machine has no such transition.
        """
        if status not in ALLOWED[self.status]:
            raise ValueError(f"{self.id}: no transition {self.status.value} -> {status.value}")
        self.status = status
