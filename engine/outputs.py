"""`Outputs`: what live requests have produced, and what their clients have of it so far.

It writes every event that tells of a token or of an end; when a client gets something is decided
by `EngineCore`, which knows the batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from engine.clock import Clock
from engine.events import Delivered, Finished, Refused, Token
from engine.log import EventLog
from engine.request import FinishReason, Sequence, Status
from engine.tokenizer import TextStream, Tokenizer


@dataclass(slots=True, eq=False)
class Output:
    """What a live request has produced.

    Attributes:
        pieces: text so far.
        num_pending: tokens generated but not delivered yet.
        num_delivered: tokens that the client has.
    """

    stream: TextStream
    pieces: list[str] = field(default_factory=list)
    num_pending: int = 0
    num_delivered: int = 0


class Outputs:
    """One output for every request whose client is still to get something."""

    def __init__(self, tokenizer: Tokenizer, clock: Clock, log: EventLog) -> None:
        self._tokenizer = tokenizer
        self._clock = clock
        self._log = log
        self._live: dict[str, Output] = {}
        self._answered: list[str] = []
        self._leaving: list[str] = []  # clients that have as many tokens as they wait for
        self._seconds = 0.0

    def begin(self, seq: Sequence) -> None:
        """Expect output of a sequence."""
        stream = TextStream(self._tokenizer, seq.request.sampling.stop)
        self._live[seq.id] = Output(stream)

    def push(self, seq: Sequence, token_id: int, now: float) -> bool:
        """Add a token to a sequence and its text.

        Args:
            now: seconds on the clock; the same for all tokens of a pass.

        Returns:
            Whether the token stops the sequence before its length does.
        """
        output = self._live[seq.id]
        seq.token_ids.append(token_id)
        may_stop = seq.num_output_tokens >= seq.request.sampling.min_tokens
        began = self._clock.now()
        text = output.stream.push(token_id, may_stop=may_stop)
        self._seconds += self._clock.now() - began
        output.pieces.append(text)
        output.num_pending += 1
        self._log.append(Token(now, seq.id, token_id, text))
        return output.stream.is_stopped or (may_stop and self._is_end(seq, token_id))

    def take_seconds(self) -> float:
        """How long tokens took to become text since the last call."""
        seconds, self._seconds = self._seconds, 0.0
        return seconds

    def deliver(self, seq: Sequence) -> None:
        """Hand the client what was generated since the last time."""
        output = self._live.get(seq.id)
        if output is None:
            return
        if output.num_pending:
            self._log.append(Delivered(self._clock.now(), seq.id, output.num_pending))
            output.num_delivered += output.num_pending
            output.num_pending = 0
        if seq.is_finished:
            self._close(seq)
        elif 0 < (seq.request.cancel_after_tokens or 0) <= output.num_delivered:
            self._leaving.append(seq.id)

    def finish(self, seq: Sequence, reason: FinishReason, message: str = "") -> None:
        """End a sequence; tokens that are still to be delivered stay until they are."""
        seq.finish_reason = reason
        seq.move_to(Status.FINISHED)
        output = self._live.get(seq.id)
        text = output.stream.flush() if output else ""
        if output:
            output.pieces.append(text)
        self._log.append(Finished(self._clock.now(), seq.id, reason, text, message))
        if output is None or not output.num_pending:
            self._close(seq)

    def take_back(self, seq: Sequence) -> None:
        """Drop what was generated but not delivered: nobody waits for it any more."""
        if output := self._live.get(seq.id):
            output.num_pending = 0

    def refuse(self, request_id: str, message: str) -> None:
        """Turn away a request that never becomes a sequence."""
        self._log.append(Refused(self._clock.now(), request_id, message))
        self._answered.append(request_id)

    def take_answered(self) -> list[str]:
        """Whose clients got all that they will get since the last call, for whatever reason."""
        answered, self._answered = self._answered, []
        return answered

    def take_leaving(self) -> list[str]:
        """Whose clients go away, because they have as much as they wanted."""
        leaving, self._leaving = self._leaving, []
        return leaving

    def texts(self) -> Iterator[tuple[str, str]]:
        """The text so far of every live request, by id."""
        return ((key, "".join(output.pieces)) for key, output in self._live.items())

    def _close(self, seq: Sequence) -> None:
        """Forget a sequence, since its client has all that it will get."""
        self._live.pop(seq.id, None)
        self._answered.append(seq.id)

    def _is_end(self, seq: Sequence, token_id: int) -> bool:
        sampling = seq.request.sampling
        is_eos = token_id in self._tokenizer.eos_token_ids and not sampling.ignore_eos
        return is_eos or token_id in sampling.stop_token_ids
