"""The whole state at one moment, so that a reader can begin there."""

from __future__ import annotations

from dataclasses import dataclass

from engine.request import FinishReason, Request
from engine.settings import EngineSettings


@dataclass(frozen=True, slots=True)
class Holding:
    """One running sequence in a keyframe."""

    slot: int
    request_id: str
    num_computed: int
    blocks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Keyframe:
    """The whole state between two steps, so that a reader can begin here.

    Attributes:
        index: of the next forward pass.
        waiting: ids in the order of the queue.
        outputs: text so far of every live request, by id.
        cached: blocks that a request with the right beginning would share.
    """

    time: float
    index: int
    settings: EngineSettings
    waiting: tuple[str, ...]
    running: tuple[Holding, ...]
    requests: tuple[Request, ...]
    outputs: tuple[tuple[str, str], ...]
    cached: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a live request got by the time of a checkpoint.

    Attributes:
        text: of the output so far.
        admitted_at: begin of the first pass that it ran in.
        worst_gap: longest time between two deliveries.
        num_cached: tokens that were in the cache when it was first admitted.
    """

    request_id: str
    text: str
    num_output_tokens: int
    num_delivered: int
    num_preemptions: int
    reason: FinishReason | None
    message: str
    admitted_at: float | None
    first_delivery: float | None
    last_delivery: float | None
    worst_gap: float
    num_cached: int = 0


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a keyframe cannot say, since no single moment shows it; recordings put it behind one.

    Attributes:
        num_finished, num_preemptions: since the beginning.
        progress: of the requests in the keyframe.
        num_looked_up, num_hit: tokens of new requests that the prefix cache was asked for, and
            those that it held, since the beginning.
    """

    time: float
    num_finished: int
    num_preemptions: int
    progress: tuple[Progress, ...]
    num_looked_up: int = 0
    num_hit: int = 0
