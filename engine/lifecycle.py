"""`Lifecycle`: what becomes of requests, from their arrival until their clients have all they get.

Who runs meanwhile, and with which blocks, is for the batcher to say. Here it is decided who comes
in, how each of them ends, and when the client is told.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.clock import Clock
from engine.events import Arrived
from engine.log import EventLog
from engine.outputs import Outputs, Told
from engine.queues import Queues
from engine.register import Register
from engine.request import PENDING, FinishReason, Request, Sequence
from engine.settings import EngineSettings, TimeoutAction
from engine.timeouts import deadline, overdue, timeout_message


class Lifecycle:
    """Takes requests on and ends them, in the queues, in the log and before their clients.

    Attributes:
        queues: hold whoever is still to run, runs, or waits for its batch to end.
        outputs: what each has produced, and what its client has of it.
    """

    def __init__(self, queues: Queues, outputs: Outputs, clock: Clock, log: EventLog) -> None:
        self.queues = queues
        self.outputs = outputs
        self._register = Register()
        self._clock = clock
        self._log = log

    def find(self, request_id: str) -> Sequence | None:
        """The live request of that name, or None."""
        return self._register.find(request_id)

    def begin(self, request: Request, problem: str | None) -> None:
        """Queue a request; refuse it at once if its name is taken, or for a problem if it has one.

        Args:
            problem: why it cannot be served, in the client's words.
        """
        if request.id in self._register:
            again = f"a request named {request.id!r} was already submitted"
            self.outputs.refuse(request.id, again)
            return
        self._log.append(Arrived(self._clock.now(), request))
        seq = Sequence(request)
        self._register.add(seq)
        if problem:
            self._finish(seq, FinishReason.REJECTED, problem)
        else:
            self.outputs.begin(seq)
            self.queues.enqueue(seq)

    def time_out(self, settings: EngineSettings, now: float) -> None:
        """Refuse, or let others pass, who has waited too long."""
        for seq in overdue(self.queues, settings, now):
            if settings.timeout_action is TimeoutAction.DELAY:
                self.queues.delay(seq, deadline(seq.request, settings))
            else:
                self.drop(seq, FinishReason.REJECTED, timeout_message(seq, now))

    def hand_on(
        self, told: Iterable[Told], now: float, *, is_streaming: bool, by_batch: bool
    ) -> set[Sequence]:
        """Hand on new tokens and their text; return the sequences that they complete.

        Args:
            is_streaming: clients get tokens one by one.
            by_batch: clients get the end of their answers when all of their batch have ended.
        """
        self.outputs.push(told, now, is_streaming=is_streaming)
        ended = set()
        for seq, _, _, _, reason in told:
            if reason:
                if not by_batch:
                    self.outputs.deliver(seq, now)
                if seq.slot is None:  # preempted while its last token was under way
                    self.queues.remove(seq)
                self._finish(seq, reason)
                ended.add(seq)
        if by_batch:
            self.answer_batch()
        return ended

    def answer_batch(self) -> None:
        """Answer everybody who runs, if the last of them is done."""
        if all(seq.is_finished for seq in self.queues.running):
            self._deliver_finished()

    def retire_finished(self) -> None:
        """Answer those who waited only for their batch, and take back what they hold."""
        self._deliver_finished()
        self.queues.retire_finished()

    def drop(self, seq: Sequence, reason: FinishReason, message: str = "") -> None:
        """End a sequence that is not to wait for its batch, and take back all it holds."""
        self.queues.remove(seq)
        self.outputs.take_back(seq)
        self._finish(seq, reason, message)

    def fail(self, seqs: Iterable[Sequence], problem: str, now: float) -> None:
        """End sequences whose pass failed; those that were done before get their answers."""
        for seq in seqs:
            if seq.is_finished:
                self.outputs.deliver(seq, now)
            else:
                self.drop(seq, FinishReason.ERROR, problem)

    def _deliver_finished(self) -> None:
        now = self._clock.now()
        for seq in self.queues.running:
            if seq.is_finished:
                self.outputs.deliver(seq, now)

    def _finish(self, seq: Sequence, reason: FinishReason, message: str = "") -> None:
        """End a sequence; tokens of it that are under way will be thrown away."""
        while seq.token_ids and seq.token_ids[-1] == PENDING:
            seq.token_ids.pop()
        self._register.end(seq)
        self.outputs.finish(seq, reason, message)
