"""`EngineCore`: the one loop that every batcher and every runner shares.

With async scheduling, as in vLLM, a step plans and launches a pass before it takes in the tokens
of the one before, so that the device never waits for the scheduler. Without, it takes them in at
once; all else is the same.
"""

from __future__ import annotations

from dataclasses import replace

from engine.batchers import make_batcher
from engine.batchers.room import can_go_on
from engine.blocks import BlockChange, BlockPool
from engine.caching_pool import CachingPool
from engine.clock import Clock
from engine.door import queue_problem, refusal
from engine.events import Arrived, Configured, EngineInfo, Failed, Ready
from engine.flight import Flight, advance, fill
from engine.log import EventLog
from engine.order import make_order
from engine.outputs import Outputs, Told
from engine.plan import CacheLostError, Plan, Runner, RunnerError
from engine.queues import Queues
from engine.record import Recorder
from engine.register import Register
from engine.request import PENDING, Answer, FinishReason, Request, Sequence
from engine.settings import Delivery, EngineSettings, KvPolicy, TimeoutAction
from engine.timeouts import overdue, timeout_message, wake_for_timeout
from engine.tokenizer import Tokenizer


class EngineCore:
    """Schedule, execute, apply, record. Single-threaded; `backends.local` gives it a thread.

    Args:
        settings: every knob; `configure` changes them between steps.
        info: what runs; its `num_kv_blocks` and `max_model_len` stand where settings say 0.
    """

    def __init__(
        self,
        settings: EngineSettings,
        info: EngineInfo,
        runner: Runner,
        tokenizer: Tokenizer,
        clock: Clock,
        log: EventLog,
    ) -> None:
        self.settings = settings
        self.info = info
        self.runner = runner
        self.tokenizer = tokenizer
        self.clock = clock
        self.log = log
        self.queues = Queues(self._make_pool(settings), make_order(settings))
        self.batcher = make_batcher(settings)
        self._outputs = Outputs(tokenizer, clock, log)
        self.flight: Flight | None = None  # the pass under way
        self._register = Register()
        self._recorder = Recorder(clock, log)
        log.append(Ready(clock.now(), info))
        log.append(Configured(clock.now(), settings))

    @property
    def has_work(self) -> bool:
        """Whether a request waits or runs, or a pass is under way."""
        if self.queues.waiting or self.flight is not None:
            return True
        return any(not seq.is_finished for seq in self.queues.running)

    @property
    def max_model_len(self) -> int:
        """Prompt and output together at most, in tokens."""
        return self.info.longest(self.settings)

    def add(self, request: Request) -> None:
        """Queue a request, or refuse it at once if it could never be served."""
        if self.settings.ignore_eos is not None:
            sampling = replace(request.sampling, ignore_eos=self.settings.ignore_eos)
            request = replace(request, sampling=sampling)
        if request.id in self._register:
            again = f"a request named {request.id!r} was already submitted"
            self._outputs.refuse(request.id, again)
            return
        self.log.append(Arrived(self.clock.now(), request))
        seq = Sequence(request)
        self._register.add(seq)
        full = queue_problem(self.queues, self.settings)
        if problem := self._refusal(request) or full:
            self._finish(seq, FinishReason.REJECTED, problem)
        else:
            self._outputs.begin(seq)
            self.queues.enqueue(seq)

    def abort(self, request_id: str) -> None:
        """End a request early, with all it holds; an unknown or finished one is left alone.

        A token of it that is under way is thrown away.
        """
        if seq := self._register.find(request_id):
            self._drop(seq, FinishReason.ABORT)
            self._deliver_batch()  # it may have been the last that its batch waited for

    def abort_all(self) -> None:
        """End every live request early."""
        for seq in [*self.queues.running, *self.queues.waiting]:
            if not seq.is_finished:
                self._drop(seq, FinishReason.ABORT)
        self._deliver_batch()

    def take_answered(self) -> list[Answer]:
        """Whose clients got all they will get since the last call, for whatever reason."""
        return self._outputs.take_answered()

    def flush(self) -> None:
        """Let the next batch start without waiting for company."""
        self.queues.is_flushing = bool(self.queues.waiting)

    def configure(self, settings: EngineSettings) -> None:
        """Change any knob between steps.

        What runs goes on in its slot and with its blocks where these can stay; else the newest make
        room until the others can. No token is lost or repeated. The settings in force change
        nothing; `clear_cache` is for who wants to start afresh.

        Raises:
            RunnerError: the runner cannot hold that many blocks; the settings stay.
        """
        if settings == self.settings:
            return
        self.settle()
        pool = old = self.queues.pool
        if not settings.keeps_cache(self.settings):
            pool = self._make_pool(settings)
        if (pool.num_blocks, pool.block_size) != (old.num_blocks, old.block_size):
            self._resize(pool)
        batcher = make_batcher(settings)
        if pool is not old:
            self.preempt_all()
        elif batcher.request_level is not self.batcher.request_level:
            self._retire_finished()
        self._make_way(settings)
        self._recorder.record_change(Plan(), self.queues)
        self.settings, self.queues.pool, self.batcher = settings, pool, batcher
        self.queues.reorder(make_order(settings))
        self.log.append(Configured(self.clock.now(), settings))
        self._refuse_misfits()

    def preempt_all(self) -> None:
        """Free every slot and every block; what ran comes first in line."""
        self.settle()
        self._retire_finished()
        for seq in reversed(self.queues.running):
            self.queues.preempt(seq)

    def clear_cache(self) -> None:
        """Preempt what runs and forget all that the cache held.

        Its memory is lent away or lost, or a run is to begin as on a new engine.
        """
        self.preempt_all()
        self._recorder.record_change(Plan(), self.queues)
        self.queues.pool = self._make_pool(self.settings)
        self.log.append(Configured(self.clock.now(), self.settings))

    def record_keyframe(self) -> None:
        """Write down the whole state, so that a reader can begin here."""
        self._recorder.record_keyframe(self.settings, self.queues, self._outputs.texts())

    def step(self) -> Plan:
        """Launch one forward pass; return its plan, which is empty if there was nothing to do."""
        if self._recorder.wants_keyframe:
            self.settle()
            self.record_keyframe()
        began = self.clock.now()
        self._time_out(began)
        plan = self.batcher.schedule(self.queues, began)
        under_way, self.flight = self.flight, None
        problem = self._launch(plan, began) if plan.rows else None
        if under_way:
            self._land(under_way)
        if problem:
            self._fail(plan, problem, self.queues.pool.take_promised())
        if not self.info.is_async(self.settings):
            self.settle()
        if not self.flight:
            self._recorder.record_change(plan, self.queues)
            plan = wake_for_timeout(plan, self.queues, self.settings)
        for request_id in self._outputs.take_leaving():
            self.abort(request_id)
        # With nothing to launch, what has just come in may be what the next plan waits for.
        return replace(plan, wake_at=began) if under_way and not plan.rows else plan

    def settle(self) -> None:
        """Wait for the pass under way, if there is one, and take in its tokens."""
        flight, self.flight = self.flight, None
        if flight:
            self._land(flight)

    def _time_out(self, now: float) -> None:
        """Refuse, or let others pass, who has waited too long."""
        for seq in overdue(self.queues, self.settings, now):
            if self.settings.timeout_action is TimeoutAction.DELAY:
                self.queues.delay(seq)
            else:
                self._drop(seq, FinishReason.REJECTED, timeout_message(seq, now))

    def _launch(self, plan: Plan, began: float) -> str | None:
        """Hand a plan to the device and move its sequences on; return why it could not be.

        Not the error itself, which would keep alive what the pass had put in the device's memory.
        """
        scheduled = self.clock.now()
        try:
            launch = self.runner.launch(plan)
        except RunnerError as error:
            return str(error)
        launched = self.clock.now()
        draft = self._recorder.draft(plan, self.queues)
        samples, promised = advance(plan.rows), self.queues.pool.take_promised()
        times = began, scheduled, launched, self.clock.now()
        self.flight = Flight(plan, launch, draft, samples, promised, *times)
        return None

    def _land(self, flight: Flight) -> None:
        """Take in what comes out of a pass, and record it."""
        awaited = self.clock.now()
        try:
            token_ids = flight.launch.result()
        except RunnerError as error:
            self._recorder.record_failure(flight.draft)
            self._fail(flight.plan, str(error), flight.promised)
            return
        came = self.clock.now()
        fill(flight.samples, token_ids)
        published = self._publish(flight)
        told = self._outputs.detokenise(flight.samples, token_ids)
        detokenised = self.clock.now()
        ended = self._apply(told, came)
        applied = self.clock.now()
        split = flight.split(awaited, came, detokenised, applied, self._recorder.seconds)
        draft = flight.draft
        if published:
            draft = replace(draft, blocks=draft.blocks + published)
        self._recorder.record_pass(draft, ended, flight.began, split, flight.launch.mode)
        self._recorder.seconds = self.clock.now() - applied

    def _apply(self, told: list[Told], now: float) -> set[Sequence]:
        """Hand on new tokens and their text; return the sequences that they complete."""
        self._outputs.push(told, now, is_streaming=self.settings.delivery is Delivery.STREAM)
        ended = set()
        for seq, _, _, _, reason in told:
            if reason:
                if not self.batcher.request_level:
                    self._outputs.deliver(seq, now)
                if seq.slot is None:  # preempted while its last token was under way
                    self.queues.remove(seq)
                self._finish(seq, reason)
                ended.add(seq)
        self._deliver_batch()
        return ended

    def _publish(self, flight: Flight) -> tuple[BlockChange, ...]:
        """Let others find the blocks that a pass has filled, where they are still held.

        Returns:
            What its record can tell of that; a later one does where something else came before.
        """
        pool = self.queues.pool
        if not pool.is_caching:
            return ()
        is_next = self.flight is None and not pool.has_changes
        for seq, end in flight.ends:
            if seq.num_computed >= end:
                pool.publish(seq, end)
        return pool.take_changes() if is_next else ()

    def _finish(self, seq: Sequence, reason: FinishReason, message: str = "") -> None:
        """End a sequence; tokens of it that are under way will be thrown away."""
        while seq.token_ids and seq.token_ids[-1] == PENDING:
            seq.token_ids.pop()
        self._register.end(seq)
        self._outputs.finish(seq, reason, message)

    def _deliver_batch(self) -> None:
        """Under request-level batching, answer everybody when the last one is done."""
        if self.batcher.request_level and all(seq.is_finished for seq in self.queues.running):
            now = self.clock.now()
            for seq in self.queues.running:
                self._outputs.deliver(seq, now)

    def _refuse_misfits(self) -> None:
        """End those that the settings no longer have room for."""
        for seq in [*self.queues.running, *self.queues.waiting]:
            if not seq.is_finished and (message := self._refusal(seq.request)):
                self._drop(seq, FinishReason.REJECTED, message)
        self._deliver_batch()  # one of them may have been the last that its batch waited for

    def _make_way(self, settings: EngineSettings) -> None:
        """Preempt the newest until the others can go on under these settings."""
        if can_go_on(self.queues, settings):
            return
        self._retire_finished()
        while not can_go_on(self.queues, settings):
            self.queues.preempt(self.queues.running[-1])

    def _retire_finished(self) -> None:
        """Answer those who waited only for their batch, and take back what they hold."""
        now = self.clock.now()
        for seq in self.queues.running:
            if seq.is_finished:
                self._outputs.deliver(seq, now)
        self.queues.retire_finished()

    def _drop(self, seq: Sequence, reason: FinishReason, message: str = "") -> None:
        """End a sequence that is not to wait for its batch, and take back all it holds."""
        self.queues.remove(seq)
        self._outputs.take_back(seq)
        self._finish(seq, reason, message)

    def _fail(self, plan: Plan, problem: str, promised: tuple[int, ...]) -> None:
        """Fail the sequences of a plan; the others go on.

        Args:
            promised: blocks that it was to fill; who shares one of them fails with it.
        """
        now, lost = self.clock.now(), set(promised)
        self.queues.pool.retract(promised + (self.flight.promised if self.flight else ()))
        sharing = [seq for seq in self.queues.running if not lost.isdisjoint(seq.block_table)]
        for seq in dict.fromkeys([*(row.seq for row in plan.rows), *sharing]):
            if seq.is_finished:
                self._outputs.deliver(seq, now)
            else:
                self._drop(seq, FinishReason.ERROR, problem)
        self.log.append(Failed(now, problem))

    def _resize(self, pool: BlockPool) -> None:
        try:
            self.runner.resize(pool.num_blocks, pool.block_size)
        except CacheLostError:
            self.clear_cache()
            raise

    def _refusal(self, request: Request) -> str | None:
        vocab_size = self.tokenizer.vocab_size
        return refusal(request, self.queues.pool, self.max_model_len, vocab_size)

    def _make_pool(self, settings: EngineSettings) -> BlockPool:
        kind = CachingPool if settings.enable_prefix_caching else BlockPool
        reserve_tokens = 0
        if settings.kv_policy is KvPolicy.RESERVE:
            reserve_tokens = settings.reserve_tokens or self.info.longest(settings)
        return kind(self.info.num_blocks(settings), settings.block_size, reserve_tokens)
