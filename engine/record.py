"""From the engine's live objects to the immutable records that everything else reads."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from operator import itemgetter

from engine.blocks import BlockChange
from engine.clock import Clock
from engine.events import Holding, Keyframe, RowRecord, Split, Step, Work
from engine.log import EventLog
from engine.plan import Plan, Skip
from engine.queues import Preemption, Queues
from engine.request import Sequence, Status
from engine.settings import EngineSettings

KEYFRAME_STEPS = 256


@dataclass(frozen=True, slots=True)
class Draft:
    """What can be said of a pass once it is launched, although its tokens are still to come.

    Attributes:
        seqs, rows: who holds a slot during it, and what each of them does.
        preempted, blocks: what its plan changed.
        num_waiting, num_running, num_free_blocks: with its plan.
    """

    plan: Plan
    seqs: list[Sequence]
    rows: list[RowRecord]
    preempted: tuple[Preemption, ...]
    blocks: tuple[BlockChange, ...]
    num_waiting: int
    num_running: int
    num_free_blocks: int


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
        self._ended = 0.0  # the newest pass, in seconds on the clock
        self.seconds = 0.0

    @property
    def wants_keyframe(self) -> bool:
        """Whether some hundreds of passes went by since the last one."""
        return self._num_passes >= self._next_keyframe

    def draft(self, plan: Plan, queues: Queues) -> Draft:
        """Note what is known of a pass that was just launched, before its sequences move on."""
        seqs = [row.seq for row in plan.rows]
        if len(seqs) < len(queues.running):
            planned = set(seqs)
            seqs += [seq for seq in queues.running if seq not in planned]
        return Draft(
            plan=plan,
            seqs=seqs,
            rows=draft_rows(plan, seqs),
            preempted=queues.take_preemptions(),
            blocks=queues.pool.take_changes(),
            num_waiting=len(queues.waiting),
            num_running=len(queues.running),
            num_free_blocks=queues.pool.num_free,
        )

    def record_pass(
        self, draft: Draft, ended: Container[Sequence], began: float, split: Split, mode: str
    ) -> None:
        """Write down a pass whose tokens have come in.

        Args:
            ended: those who got their last token in it.
            began: when it began, or when the pass before ended, if that was later: passes follow
                one another on the device, even where they are launched ahead.
            mode: in which of its ways the runner ran it.
        """
        now = self._clock.now()
        self._write(draft, finish_rows(draft, ended), now, max(began, self._ended), split, mode)
        self._num_passes += 1
        self._ended = now

    def record_failure(self, draft: Draft) -> None:
        """Write down what changed hands for a pass that failed, if anything did."""
        if draft.blocks or draft.preempted:
            self._write_change(draft)

    def record_change(self, plan: Plan, queues: Queues) -> None:
        """Write down what changed although no pass ran, if anything did.

        Only while none is under way, or its record would tell of what lies before this one.
        """
        if queues.pool.has_changes or plan.skipped != self._skipped:
            self._write_change(self.draft(Plan(skipped=plan.skipped), queues))

    def record_keyframe(
        self, settings: EngineSettings, queues: Queues, outputs: Iterable[tuple[str, str]]
    ) -> None:
        """Write down everything that a reader needs to begin here.

        What changed hands since the last step is written down first: a keyframe shows the state
        between two steps, so the next one must not tell of changes that it holds already.
        """
        self.record_change(Plan(skipped=self._skipped), queues)
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

    def _write_change(self, draft: Draft) -> None:
        now = self._clock.now()
        self._write(draft, (), now, now, Split(), "")

    def _write(
        self,
        draft: Draft,
        rows: tuple[RowRecord, ...],
        now: float,
        began: float,
        split: Split,
        mode: str,
    ) -> None:
        plan = draft.plan
        self._skipped = plan.skipped
        self._log.append(
            Step(
                index=self._num_passes,
                time=now,
                duration=now - began,
                rows=rows,
                num_tokens=sum([row.num_tokens for row in rows]),
                num_slots=plan.num_slots if rows else 0,
                is_rectangular=plan.rectangular and bool(rows),
                preempted=draft.preempted,
                skipped=plan.skipped,
                blocks=draft.blocks,
                num_waiting=draft.num_waiting,
                num_running=draft.num_running,
                num_free_blocks=draft.num_free_blocks,
                split=split,
                mode=mode,
            )
        )


def draft_rows(plan: Plan, seqs: list[Sequence]) -> list[RowRecord]:
    """What sequences do in a pass, as far as can be said before its tokens come in.

    Args:
        seqs: those of the plan in its order, then others that hold a slot meanwhile.
    """
    rows = [_draft_row(seq, num_tokens) for seq, num_tokens in plan.rows]
    return rows + [_draft_row(seq, 0) for seq in seqs[len(rows) :]]


def finish_rows(draft: Draft, ended: Container[Sequence]) -> tuple[RowRecord, ...]:
    """What every held slot did in a pass, by slot.

    Args:
        ended: those who got their last token in it; who had ended before wasted its slot.
    """
    rows = [
        row if seq.status is not Status.FINISHED else _finish_row(seq, row, seq in ended)
        for seq, row in zip(draft.seqs, draft.rows, strict=True)
    ]
    rows.sort(key=itemgetter(0))
    return tuple(rows)


def _draft_row(seq: Sequence, num_tokens: int) -> RowRecord:
    slot, num_computed, total_tokens = seq.slot, seq.num_computed, len(seq.token_ids)
    assert slot is not None, f"{seq.id} runs without a slot"
    sampled = 0 < num_tokens == total_tokens - num_computed
    work = Work.PREFILL
    if not num_tokens:
        work = Work.STALLED
    elif num_tokens == 1 and sampled and total_tokens > seq.num_prompt_tokens:
        work = Work.DECODE
    request_id = seq.request.id
    fields = (slot, request_id, work, num_tokens, num_computed, total_tokens, sampled, False)
    return tuple.__new__(RowRecord, fields)  # its own way takes longer than all else here


def _finish_row(seq: Sequence, row: RowRecord, has_ended: bool) -> RowRecord:
    """The record of a sequence that is finished, with this pass or since before."""
    if has_ended:
        return row._replace(finished=True)
    return row._replace(work=Work.HELD, num_tokens=0, total_tokens=seq.num_tokens, sampled=False)


def record_holdings(queues: Queues) -> tuple[Holding, ...]:
    """Who holds which slot and which blocks."""
    return tuple(
        Holding(seq.slot, seq.id, seq.num_computed, tuple(seq.block_table))
        for seq in queues.running
        if seq.slot is not None
    )
