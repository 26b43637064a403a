"""`Executor`: sends plans to the device, and takes in the tokens that come out.

One pass at most is under way when the next is launched, as in vLLM's async scheduling; in which
order the two halves come is for `EngineCore` to say.
"""

from __future__ import annotations

from dataclasses import replace

from engine.blocks import BlockChange
from engine.clock import Clock
from engine.events import Failed
from engine.flight import Flight, advance, fill
from engine.lifecycle import Lifecycle
from engine.log import EventLog
from engine.plan import Plan, Runner, RunnerError
from engine.record import Recorder


class Executor:
    """Follows each pass from its launch until its tokens are handed on and it is written down.

    Attributes:
        flight: the pass under way, if there is one.
    """

    def __init__(
        self, lifecycle: Lifecycle, recorder: Recorder, clock: Clock, log: EventLog
    ) -> None:
        self.flight: Flight | None = None
        self._lifecycle = lifecycle
        self._queues = lifecycle.queues
        self._outputs = lifecycle.outputs
        self._recorder = recorder
        self._clock = clock
        self._log = log

    def take_flight(self) -> Flight | None:
        """The pass under way, which is for the caller to land now."""
        flight, self.flight = self.flight, None
        return flight

    def launch(self, runner: Runner, plan: Plan, began: float) -> str | None:
        """Hand a plan to the device and move its sequences on; return why it could not be.

        Not the error itself, which would keep alive what the pass had put in the device's memory.

        Args:
            began: seconds on the clock when its step began.
        """
        scheduled = self._clock.now()
        try:
            launch = runner.launch(plan)
        except RunnerError as error:
            return str(error)
        launched = self._clock.now()
        draft = self._recorder.draft(plan, self._queues)
        samples, promised = advance(plan.rows), self._queues.pool.take_promised()
        times = began, scheduled, launched, self._clock.now()
        self.flight = Flight(plan, launch, draft, samples, promised, *times)
        return None

    def land(self, flight: Flight, *, is_streaming: bool, by_batch: bool) -> None:
        """Wait for a pass, take in what comes out of it, and record it.

        Args:
            is_streaming, by_batch: how clients are answered, see `Lifecycle.hand_on`.
        """
        awaited = self._clock.now()
        try:
            token_ids = flight.launch.result()
        except RunnerError as error:
            self._recorder.record_failure(flight.draft)
            self.fail(flight.plan, str(error), flight.promised)
            return
        came = self._clock.now()
        fill(flight.samples, token_ids)
        published = self._publish(flight)
        told = self._outputs.detokenise(flight.samples, token_ids)
        detokenised = self._clock.now()
        ended = self._lifecycle.hand_on(told, came, is_streaming=is_streaming, by_batch=by_batch)
        applied = self._clock.now()
        split = flight.split(awaited, came, detokenised, applied, self._recorder.seconds)
        draft = flight.draft
        if published:
            draft = replace(draft, blocks=draft.blocks + published)
        self._recorder.record_pass(draft, ended, flight.began, split, flight.launch.mode)
        self._recorder.seconds = self._clock.now() - applied

    def fail(self, plan: Plan, problem: str, promised: tuple[int, ...]) -> None:
        """Fail the sequences of a plan; the others go on.

        Args:
            promised: blocks that it was to fill; who shares one of them fails with it.
        """
        now, lost = self._clock.now(), set(promised)
        self._queues.pool.retract(promised + (self.flight.promised if self.flight else ()))
        sharing = [seq for seq in self._queues.running if not lost.isdisjoint(seq.block_table)]
        self._lifecycle.fail(
            dict.fromkeys([*(row.seq for row in plan.rows), *sharing]), problem, now
        )
        self._log.append(Failed(now, problem))

    def _publish(self, flight: Flight) -> tuple[BlockChange, ...]:
        """Let others find the blocks that a pass has filled, where they are still held.

        Returns:
            What its record can tell of that; a later one does where something else came before.
        """
        pool = self._queues.pool
        if not pool.is_caching:
            return ()
        is_next = self.flight is None and not pool.has_changes
        for seq, end in flight.ends:
            if seq.num_computed >= end:
                pool.publish(seq, end)
        return pool.take_changes() if is_next else ()
