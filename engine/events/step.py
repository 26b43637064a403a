"""`Step`: one forward pass, with what each slot did in it and where its time went."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeGuard

from engine.blocks import BlockChange
from engine.plan import Skip
from engine.queues import Preemption


class Work(Enum):
    """What a slot did in one step."""

    PREFILL = "prefill"
    DECODE = "decode"
    HELD = "held"  # finished, its slot and blocks still held for the batch: waste
    STALLED = "stalled"  # alive, but given no token in this step


class RowRecord(NamedTuple):
    """One slot during one step.

    Attributes:
        num_computed: before the step.
        num_tokens: computed in the step; 0 where the slot is held or stalled.
        total_tokens: prompt and output before the step.
        sampled: whether the step gave the request a token.
        finished: whether that token was its last.
    """

    slot: int
    request_id: str
    work: Work
    num_tokens: int
    num_computed: int
    total_tokens: int
    sampled: bool = False
    finished: bool = False


@dataclass(frozen=True, slots=True)
class Split:
    """Where a step's time went on the host, in seconds on the engine's clock.

    Attributes:
        schedule: the batcher decides.
        launch: the model is called; a CPU computes the pass meanwhile.
        wait: for the tokens to come from the device.
        apply: sequences move on, answers are delivered and finished.
        prepare: tensors of ids, positions and block tables are made of the plan.
        sample: the calls that choose tokens from logits.
        detokenise: tokens become text, and stop strings are looked for.
        log: the step before this one was written down.
        device: the device computed so long, host time aside; 0 where it was not measured.
    """

    schedule: float = 0.0
    launch: float = 0.0
    wait: float = 0.0
    apply: float = 0.0
    prepare: float = 0.0
    sample: float = 0.0
    detokenise: float = 0.0
    log: float = 0.0
    device: float = 0.0


@dataclass(frozen=True, slots=True)
class Step:
    """One forward pass; with no rows, slots or blocks changed hands and nothing was computed.

    Attributes:
        index: counts forward passes from 0; a step with no rows has that of the next pass.
        time, duration: end of the step and its length.
        rows: every slot held during the pass, by slot.
        num_slots: token positions computed, padding and dead rows included.
        blocks: KV blocks taken and given back since the step before.
        preempted: who lost slot and blocks since the step before.
        skipped: why the head of the queue was not admitted.
        num_waiting, num_running, num_free_blocks: after the step.
        mode: how the runner ran it, as in `graph 8`; empty where it has but one way.
    """

    index: int
    time: float
    duration: float
    rows: tuple[RowRecord, ...]
    num_tokens: int
    num_slots: int
    is_rectangular: bool
    preempted: tuple[Preemption, ...]
    skipped: tuple[Skip, ...]
    blocks: tuple[BlockChange, ...]
    num_waiting: int
    num_running: int
    num_free_blocks: int
    split: Split = Split()
    mode: str = ""


def is_pass(event: object) -> TypeGuard[Step]:
    """Whether a forward pass ended, rather than only slots or blocks changing hands."""
    return isinstance(event, Step) and bool(event.rows)
