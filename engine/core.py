"""`EngineCore`: the one loop that every batcher and every runner shares.

With async scheduling, as in vLLM, a step plans and launches a pass before it takes in the tokens
of the one before, so that the device never waits for the scheduler. Without, it takes them in at
once; all else is the same.
"""

from __future__ import annotations

from dataclasses import replace

from engine.batchers import make_batcher
from engine.batchers.room import can_go_on
from engine.blocks import BlockPool
from engine.caching_pool import CachingPool
from engine.clock import Clock
from engine.door import queue_problem, refusal
from engine.events import Configured, EngineInfo, Ready
from engine.executor import Executor
from engine.flight import Flight
from engine.lifecycle import Lifecycle
from engine.log import EventLog
from engine.order import make_order
from engine.outputs import Outputs
from engine.plan import CacheLostError, Plan, Runner
from engine.queues import Queues
from engine.record import Recorder
from engine.request import Answer, FinishReason, Request
from engine.settings import Delivery, EngineSettings
from engine.timeouts import wake_for_timeout
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
        self._lifecycle = Lifecycle(self.queues, self._outputs, clock, log)
        self._recorder = Recorder(clock, log)
        self.executor = Executor(self._lifecycle, self._recorder, clock, log)
        log.append(Ready(clock.now(), info))
        log.append(Configured(clock.now(), settings))

    @property
    def has_work(self) -> bool:
        """Whether a request waits or runs, or a pass is under way."""
        if self.queues.waiting or self.executor.flight:
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
        full = queue_problem(self.queues, self.settings)
        self._lifecycle.begin(request, self._refusal(request) or full)

    def abort(self, request_id: str) -> None:
        """End a request early, with all it holds; an unknown or finished one is left alone.

        A token of it that is under way is thrown away.
        """
        if seq := self._lifecycle.find(request_id):
            self._lifecycle.drop(seq, FinishReason.ABORT)
            self._answer_batch()  # it may have been the last that its batch waited for

    def abort_all(self) -> None:
        """End every live request early."""
        for seq in self.queues.live():
            self._lifecycle.drop(seq, FinishReason.ABORT)
        self._answer_batch()

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
            self._lifecycle.retire_finished()
        self._make_way(settings)
        self._recorder.record_change(Plan(), self.queues)
        self.settings, self.queues.pool, self.batcher = settings, pool, batcher
        self.queues.reorder(make_order(settings))
        self.log.append(Configured(self.clock.now(), settings))
        self._refuse_misfits()

    def preempt_all(self) -> None:
        """Free every slot and every block; what ran comes first in line."""
        self.settle()
        self._lifecycle.retire_finished()
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
        self._lifecycle.time_out(self.settings, began)
        plan = self.batcher.schedule(self.queues, began)
        under_way = self.executor.take_flight()
        problem = self.executor.launch(self.runner, plan, began) if plan.rows else None
        if under_way:
            self._land(under_way)
        if problem:
            self.executor.fail(plan, problem, self.queues.pool.take_promised())
        if not self.info.is_async(self.settings):
            self.settle()
        if not self.executor.flight:
            self._recorder.record_change(plan, self.queues)
            plan = wake_for_timeout(plan, self.queues, self.settings)
        for request_id in self._outputs.take_leaving():
            self.abort(request_id)
        # With nothing to launch, what has just come in may be what the next plan waits for.
        return replace(plan, wake_at=began) if under_way and not plan.rows else plan

    def settle(self) -> None:
        """Wait for the pass under way, if there is one, and take in its tokens."""
        if flight := self.executor.take_flight():
            self._land(flight)

    def _land(self, flight: Flight) -> None:
        is_streaming = self.settings.delivery is Delivery.STREAM
        by_batch = self.batcher.request_level
        self.executor.land(flight, is_streaming=is_streaming, by_batch=by_batch)

    def _answer_batch(self) -> None:
        """Under request-level batching, answer everybody when the last one is done."""
        if self.batcher.request_level:
            self._lifecycle.answer_batch()

    def _refuse_misfits(self) -> None:
        """End those that the settings no longer have room for."""
        for seq in self.queues.live():
            if message := self._refusal(seq.request):
                self._lifecycle.drop(seq, FinishReason.REJECTED, message)
        self._answer_batch()  # one of them may have been the last that its batch waited for

    def _make_way(self, settings: EngineSettings) -> None:
        """Preempt the newest until the others can go on under these settings."""
        if can_go_on(self.queues, settings):
            return
        self._lifecycle.retire_finished()
        while not can_go_on(self.queues, settings):
            self.queues.preempt(self.queues.running[-1])

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
        num_blocks, reserve = self.info.num_blocks(settings), self.info.reserve_tokens(settings)
        return kind(num_blocks, settings.block_size, reserve)
