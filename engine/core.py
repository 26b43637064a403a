"""`EngineCore`: the one loop that every batcher and every runner shares."""

from __future__ import annotations

from dataclasses import replace

from engine.batchers import make_batcher
from engine.blocks import BlockPool
from engine.caching_pool import CachingPool
from engine.clock import Clock
from engine.door import refusal
from engine.events import Arrived, Configured, EngineInfo, Failed, Ready, Split
from engine.log import EventLog
from engine.outputs import Outputs
from engine.plan import Plan, Runner, RunnerError
from engine.queues import Queues
from engine.record import Recorder, record_rows
from engine.request import FinishReason, Request, Sequence
from engine.settings import Delivery, EngineSettings, KvPolicy
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
        self.queues = Queues(self._make_pool(settings))
        self.batcher = make_batcher(settings)
        self._outputs = Outputs(tokenizer, clock, log)
        self._seen: set[str] = set()
        self._recorder = Recorder(clock, log)
        log.append(Ready(clock.now(), info))
        log.append(Configured(clock.now(), settings))

    @property
    def has_work(self) -> bool:
        """Whether a request waits or runs."""
        return bool(self.queues.waiting) or any(not s.is_finished for s in self.queues.running)

    @property
    def max_model_len(self) -> int:
        """Prompt and output together at most, in tokens."""
        return self.info.longest(self.settings)

    def add(self, request: Request) -> None:
        """Queue a request, or refuse it at once if it could never be served."""
        if self.settings.ignore_eos is not None:
            sampling = replace(request.sampling, ignore_eos=self.settings.ignore_eos)
            request = replace(request, sampling=sampling)
        if request.id in self._seen:
            again = f"a request named {request.id!r} was already submitted"
            self._outputs.refuse(request.id, again)
            return
        self._seen.add(request.id)
        self.log.append(Arrived(self.clock.now(), request))
        seq = Sequence(request)
        if problem := self._refusal(request):
            self._outputs.finish(seq, FinishReason.REJECTED, problem)
        else:
            self._outputs.begin(seq)
            self.queues.waiting.append(seq)

    def abort(self, request_id: str) -> None:
        """End a request early, with all it holds; an unknown or finished one is left alone."""
        for seq in [*self.queues.waiting, *self.queues.running]:
            if seq.id == request_id and not seq.is_finished:
                self._drop(seq, FinishReason.ABORT)
                self._deliver_batch()  # it may have been the last that its batch waited for

    def abort_all(self) -> None:
        """End every live request early."""
        for seq in [*self.queues.running, *self.queues.waiting]:
            if not seq.is_finished:
                self._drop(seq, FinishReason.ABORT)
        self._deliver_batch()

    def take_answered(self) -> list[str]:
        """Whose clients got all they will get since the last call, for whatever reason."""
        return self._outputs.take_answered()

    def flush(self) -> None:
        """Let the next batch start without waiting for company."""
        self.queues.is_flushing = bool(self.queues.waiting)

    def configure(self, settings: EngineSettings) -> None:
        """Change any knob between steps.

        What runs is preempted first, so that no policy meets a state that another one made, and
        no token is lost or repeated.

        Raises:
            RunnerError: the runner cannot hold that many blocks; nothing was changed.
        """
        pool = self._make_pool(settings)
        old = self.queues.pool
        if (pool.num_blocks, pool.block_size) != (old.num_blocks, old.block_size):
            self.runner.resize(pool.num_blocks, pool.block_size)
        for seq in self.queues.running:
            if seq.is_finished:
                self._outputs.deliver(seq)
        self.queues.retire_finished()
        for seq in reversed(self.queues.running):
            self.queues.preempt(seq)
        self._recorder.record_change(Plan(), self.queues)
        self.settings, self.queues.pool = settings, pool
        self.batcher = make_batcher(settings)
        self.log.append(Configured(self.clock.now(), settings))
        for seq in list(self.queues.waiting):
            if message := self._refusal(seq.request):
                self._drop(seq, FinishReason.REJECTED, message)

    def record_keyframe(self) -> None:
        """Write down the whole state, so that a reader can begin here."""
        self._recorder.record_keyframe(self.settings, self.queues, self._outputs.texts())

    def step(self) -> Plan:
        """Run one forward pass; return its plan, which is empty if there was nothing to do."""
        if self._recorder.wants_keyframe:
            self.record_keyframe()
        began = self.clock.now()
        plan = self.batcher.schedule(self.queues, began)
        if plan.rows:
            self._execute(plan, began)
        else:
            self._recorder.record_change(plan, self.queues)
        for request_id in self._outputs.take_leaving():
            self.abort(request_id)
        return plan

    def _execute(self, plan: Plan, began: float) -> None:
        """Run a plan, apply what came out and record it."""
        scheduled = self.clock.now()
        running = list(self.queues.running)
        sampling = [row.seq for row in plan.rows if row.samples]
        try:
            launch = self.runner.launch(plan)
            launched = self.clock.now()
            token_ids = launch.result()
        except RunnerError as error:
            self._fail(plan, str(error))
            self._recorder.record_change(plan, self.queues)
            return
        computed = self.clock.now()
        self._apply(plan, sampling, token_ids)
        applied = self.clock.now()
        timing, detokenise = launch.timing, self._outputs.take_seconds()
        split = Split(
            schedule=scheduled - began,
            launch=max(0.0, launched - scheduled - timing.prepare - timing.sample),
            wait=computed - launched,
            apply=applied - computed - detokenise,
            prepare=timing.prepare,
            sample=timing.sample,
            detokenise=detokenise,
            log=self._recorder.seconds,
            device=timing.device,
        )
        rows = record_rows(plan, running, set(sampling))
        self._recorder.record_pass(plan, self.queues, began, rows, split, launch.mode)
        self._recorder.seconds = self.clock.now() - applied

    def _apply(self, plan: Plan, sampling: list[Sequence], token_ids: list[int]) -> None:
        """Advance the sequences of a plan by what came out of it."""
        pool = self.queues.pool
        for row in plan.rows:
            row.seq.num_computed += row.num_tokens
            if pool.is_caching:
                pool.publish(row.seq, row.seq.num_computed)
        now = self.clock.now()
        is_streaming = self.settings.delivery is Delivery.STREAM
        for seq, token_id in zip(sampling, token_ids, strict=True):
            is_stopped = self._outputs.push(seq, token_id, now)
            reason = _end_of(seq, is_stopped)
            if is_streaming or (reason and not self.batcher.request_level):
                self._outputs.deliver(seq)
            if reason:
                self._outputs.finish(seq, reason)
        self._deliver_batch()

    def _deliver_batch(self) -> None:
        """Under request-level batching, answer everybody when the last one is done."""
        if self.batcher.request_level and all(seq.is_finished for seq in self.queues.running):
            for seq in self.queues.running:
                self._outputs.deliver(seq)

    def _drop(self, seq: Sequence, reason: FinishReason, message: str = "") -> None:
        """End a sequence that is not to wait for its batch, and take back all it holds."""
        self.queues.remove(seq)
        self._outputs.take_back(seq)
        self._outputs.finish(seq, reason, message)

    def _fail(self, plan: Plan, message: str) -> None:
        """Fail the sequences of a plan; the others go on."""
        for row in plan.rows:
            if row.seq.is_finished:
                self._outputs.deliver(row.seq)
            else:
                self._drop(row.seq, FinishReason.ERROR, message)
        self.log.append(Failed(self.clock.now(), message))

    def _refusal(self, request: Request) -> str | None:
        vocab_size = self.tokenizer.vocab_size
        return refusal(request, self.queues.pool, self.max_model_len, vocab_size)

    def _make_pool(self, settings: EngineSettings) -> BlockPool:
        kind = CachingPool if settings.enable_prefix_caching else BlockPool
        reserve_tokens = 0
        if settings.kv_policy is KvPolicy.RESERVE:
            reserve_tokens = settings.reserve_tokens or self.info.longest(settings)
        return kind(self.info.num_blocks(settings), settings.block_size, reserve_tokens)


def _end_of(seq: Sequence, is_stopped: bool) -> FinishReason | None:
    """Why a sequence is complete with its newest token, or None."""
    if is_stopped:
        return FinishReason.STOP
    is_full = seq.num_output_tokens >= seq.request.sampling.max_tokens
    return FinishReason.LENGTH if is_full else None
