"""`Outputs`: what live requests have produced, and what their clients have of it so far.

It writes every event that tells of a token or of an end; when a client gets something is decided
by `EngineCore`, which knows the batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from engine.clock import Clock
from engine.events import Delivered, Finished, Refused, Token
from engine.log import EventLog
from engine.request import Answer, FinishReason, Sequence, Status
from engine.tokenizer import TextStream, Tokenizer

REMEMBERED_TEXTS = 16_384  # of the last two or three tokens, which much text has in common


class NewToken(NamedTuple):
    """A token that a pass gave a sequence.

    Attributes:
        place: among the sequence's tokens, those of its prompt included.
    """

    seq: Sequence
    place: int
    token_id: int


@dataclass(slots=True, eq=False)
class Output:
    """What a live request has produced.

    Attributes:
        end_ids: tokens that end it.
        min_tokens: output tokens before an end counts.
        cancel_after: tokens after which its client goes away; 0 if it is patient.
        pieces: text so far.
        num_pending: tokens generated but not delivered yet.
        num_delivered: tokens that the client has.
    """

    stream: TextStream
    end_ids: frozenset[int]
    min_tokens: int
    cancel_after: int
    pieces: list[str] = field(default_factory=list)
    num_pending: int = 0
    num_delivered: int = 0


class Outputs:
    """One output for every request whose client is still to get something."""

    def __init__(self, tokenizer: Tokenizer, clock: Clock, log: EventLog) -> None:
        self._eos_token_ids = tokenizer.eos_token_ids
        self._decode = lru_cache(REMEMBERED_TEXTS)(tokenizer.decode)
        self._clock = clock
        self._log = log
        self._live: dict[str, Output] = {}
        self._answered: list[Answer] = []
        self._leaving: list[str] = []  # clients that have as many tokens as they wait for

    def begin(self, seq: Sequence) -> None:
        """Expect output of a sequence."""
        sampling = seq.request.sampling
        eos_token_ids = frozenset() if sampling.ignore_eos else self._eos_token_ids
        self._live[seq.id] = Output(
            TextStream(self._decode, sampling.stop),
            eos_token_ids | sampling.stop_token_ids,
            sampling.min_tokens,
            seq.request.cancel_after_tokens or 0,
        )

    def detokenise(
        self, new: Iterable[NewToken]
    ) -> list[tuple[NewToken, str, FinishReason | None]]:
        """Find the text that each new token adds, and why it is its sequence's last, if it is."""
        return [(each, *self._read(each)) for each in new]

    def push(self, new: NewToken, text: str, now: float) -> None:
        """Note a token and its text as generated.

        Args:
            now: seconds on the clock; the same for all tokens of a pass.
        """
        request_id = new.seq.request.id
        output = self._live[request_id]
        output.pieces.append(text)
        output.num_pending += 1
        self._log.append(Token(now, request_id, new.token_id, text))

    def deliver(self, seq: Sequence, now: float) -> None:
        """Hand the client what was generated since the last time."""
        request_id = seq.request.id
        output = self._live.get(request_id)
        if output is None:
            return
        if output.num_pending:
            self._log.append(Delivered(now, request_id, output.num_pending))
            output.num_delivered += output.num_pending
            output.num_pending = 0
        if seq.status is Status.FINISHED:
            self._close(seq)
        elif 0 < output.cancel_after <= output.num_delivered:
            self._leaving.append(request_id)

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
        self._answered.append(Answer(request_id))

    def take_answered(self) -> list[Answer]:
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
        output = tuple(seq.token_ids[seq.num_prompt_tokens :])
        self._answered.append(Answer(seq.id, output))

    def _read(self, new: NewToken) -> tuple[str, FinishReason | None]:
        seq, place, token_id = new
        output = self._live[seq.request.id]
        stream = output.stream
        may_stop = place + 1 - seq.num_prompt_tokens >= output.min_tokens
        text = stream.push(token_id, may_stop=may_stop)
        if may_stop and (token_id in output.end_ids or stream.is_stopped):
            return text, FinishReason.STOP
        return text, FinishReason.LENGTH if place + 1 >= seq.max_num_tokens else None
