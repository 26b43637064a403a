"""From the engine's live objects to the immutable records that everything else reads."""

from __future__ import annotations

from collections.abc import Iterable

from engine.clock import Clock
from engine.events import Holding, Keyframe, RowRecord, Split, Step, Work
from engine.log import EventLog
from engine.plan import Plan, Row, Skip
from engine.queues import Queues
from engine.request import Sequence
from engine.settings import EngineSettings

KEYFRAME_STEPS = 256


class Recorder:
    """Writes what the scheduler did: every step, and now and then the whole state.

    Attributes:
        seconds: what writing down the last pass took, for the next one to tell.
    """

    def __init__(self, clock: Clock, log: EventLog) -> None:
        self._clock = clock
        self._log = log
        self._num_passes = 0
        self._next_keyframe = 0
        self._skipped: tuple[Skip, ...] = ()
        self.seconds = 0.0

    @property
    def wants_keyframe(self) -> bool:
        """Whether some hundreds of passes went by since the last one."""
        return self._num_passes >= self._next_keyframe

    def record_pass(
        self,
        plan: Plan,
        queues: Queues,
        began: float,
        rows: tuple[RowRecord, ...],
        split: Split,
        mode: str = "",
    ) -> None:
        """Write down a forward pass, and in which of its ways the runner ran it."""
        self._write(plan, queues, began, rows, split, mode)
        self._num_passes += 1

    def record_change(self, plan: Plan, queues: Queues) -> None:
        """Write down what changed although no pass ran, if anything did."""
        if queues.pool.has_changes or plan.skipped != self._skipped:
            self._write(Plan(skipped=plan.skipped), queues, self._clock.now(), (), Split())

    def record_keyframe(
        self, settings: EngineSettings, queues: Queues, outputs: Iterable[tuple[str, str]]
    ) -> None:
        """Write down everything that a reader needs to begin here.

        What changed hands since the last step is written down first: a keyframe shows the state
        between two steps, so the next one must not tell of changes that it holds already.
        """
        if queues.pool.has_changes:
            self._write(Plan(skipped=self._skipped), queues, self._clock.now(), (), Split())
        self._next_keyframe = self._num_passes + KEYFRAME_STEPS
        live = [*queues.waiting, *queues.running]
        self._log.append(
            Keyframe(
                time=self._clock.now(),
                index=self._num_passes,
                settings=settings,
                waiting=tuple(seq.id for seq in queues.waiting),
                running=record_holdings(queues),
                requests=tuple(seq.request for seq in live),
                outputs=tuple(outputs),
                cached=tuple(sorted(queues.pool.cached)),
            )
        )

    def _write(
        self,
        plan: Plan,
        queues: Queues,
        began: float,
        rows: tuple[RowRecord, ...],
        split: Split,
        mode: str = "",
    ) -> None:
        now = self._clock.now()
        self._skipped = plan.skipped
        self._log.append(
            Step(
                index=self._num_passes,
                time=now,
                duration=now - began,
                rows=rows,
                num_tokens=plan.num_tokens,
                num_slots=plan.num_slots,
                is_rectangular=plan.rectangular,
                preempted=queues.take_preemptions(),
                skipped=plan.skipped,
                blocks=queues.pool.take_changes(),
                num_waiting=len(queues.waiting),
                num_running=len(queues.running),
                num_free_blocks=queues.pool.num_free,
                split=split,
                mode=mode,
            )
        )


def record_rows(
    plan: Plan, running: list[Sequence], sampled: set[Sequence]
) -> tuple[RowRecord, ...]:
    """What every held slot did in a pass that has just been applied.

    Args:
        running: the sequences that held a slot during the pass.
        sampled: those that got a token in it.
    """
    planned = {row.seq: row for row in plan.rows}
    rows = [_record(seq, planned.get(seq), seq in sampled) for seq in running]
    return tuple(sorted(rows, key=lambda row: row.slot))


def _record(seq: Sequence, row: Row | None, sampled: bool) -> RowRecord:
    assert seq.slot is not None, f"{seq.id} runs without a slot"
    num_tokens = row.num_tokens if row else 0
    if num_tokens:
        has_output = seq.num_output_tokens > sampled  # before the pass
        work = Work.DECODE if sampled and has_output and num_tokens == 1 else Work.PREFILL
    else:
        work = Work.HELD if seq.is_finished else Work.STALLED
    return RowRecord(
        slot=seq.slot,
        request_id=seq.id,
        work=work,
        num_tokens=num_tokens,
        num_computed=seq.num_computed - num_tokens,
        total_tokens=seq.num_tokens - sampled,
        sampled=sampled,
        finished=sampled and seq.is_finished,
    )


def record_holdings(queues: Queues) -> tuple[Holding, ...]:
    """Who holds which slot and which blocks."""
    return tuple(
        Holding(seq.slot, seq.id, seq.num_computed, tuple(seq.block_table))
        for seq in queues.running
        if seq.slot is not None
    )
