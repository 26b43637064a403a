"""What a client sees of its request. Every latency metric folds these alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from engine.request import FinishReason, Request


@dataclass(frozen=True, slots=True)
class Arrived:
    """A request entered the engine; `time` may be later than its `arrival`."""

    time: float
    request: Request


@dataclass(frozen=True, slots=True)
class Refused:
    """A request never entered the engine, because its id is that of another one."""

    time: float
    request_id: str
    message: str


class Token(NamedTuple):
    """One output token was generated, whether or not the client has it yet.

    Attributes:
        text: what it adds to the output; empty while a character or a stop string is incomplete.
    """

    time: float
    request_id: str
    token_id: int
    text: str = ""


class Delivered(NamedTuple):
    """The next `num_tokens` tokens of a request reached its client."""

    time: float
    request_id: str
    num_tokens: int


@dataclass(frozen=True, slots=True)
class Finished:
    """A request ended, for whatever reason.

    Attributes:
        text: what was held back of the output and is shown now.
        message: the explanation of a rejection or an error.
    """

    time: float
    request_id: str
    reason: FinishReason
    text: str = ""
    message: str = ""
