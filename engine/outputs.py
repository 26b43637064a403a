"""`Outputs`: what live requests have produced, and what their clients have of it so far.

It writes every event that tells of a token or of an end; when a client gets something is decided
by `EngineCore`, which knows the batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from engine.clock import Clock
from engine.events import Delivered, Event, Finished, Refused, Token
from engine.log import EventLog
from engine.request import Answer, FinishReason, Sequence, Status
from engine.tokenizer import TextStream, Tokenizer

REMEMBERED_TEXTS = 16_384  # of the last two or three tokens, which much text has in common


@dataclass(slots=True, eq=False)
class Output:
    """What a live request has produced.

    Attributes:
        end_ids: tokens that end it.
        first_end: place of the first token that may end it, the prompt's tokens counted.
        cancel_after: tokens after which its client goes away; 0 if it is patient.
        pieces: text so far.
        num_pending: tokens generated but not delivered yet.
        num_delivered: tokens that the client has.
    """

    stream: TextStream
    end_ids: frozenset[int]
    first_end: int
    cancel_after: int
    pieces: list[str] = field(default_factory=list)
    num_pending: int = 0
    num_delivered: int = 0


# A new token with its text, and why it is the last one of its sequence, if it is.
Told = tuple[Sequence, Output, int, str, FinishReason | None]


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
            seq.num_prompt_tokens + sampling.min_tokens - 1,
            seq.request.cancel_after_tokens or 0,
        )

    def detokenise(
        self, samples: Iterable[tuple[Sequence, int]], token_ids: Iterable[int]
    ) -> list[Told]:
        """Find the text that new tokens add, and whether they are the last.

        Those of sequences that ended meanwhile are thrown away.

        Args:
            samples: who gets a token, and the place of the token among theirs.
        """
        told: list[Told] = []
        for (seq, place), token_id in zip(samples, token_ids, strict=True):
            if seq.status is Status.FINISHED:
                continue
            output = self._live[seq.request.id]
            stream = output.stream
            may_end = place >= output.first_end
            text = stream.push(token_id, may_stop=may_end)
            reason = None
            if may_end and (token_id in output.end_ids or stream.is_stopped):
                reason = FinishReason.STOP
            elif place + 1 >= seq.max_num_tokens:
                reason = FinishReason.LENGTH
            told.append((seq, output, token_id, text, reason))
        return told

    def push(self, told: Iterable[Told], now: float, *, is_streaming: bool) -> None:
        """Note tokens as generated and, if clients get them one by one, as delivered.

        All of a pass in one go, and past the events' own way of being made, which would take as
        long again: nothing else is done so often.

        Args:
            now: seconds on the clock.
        """
        events: list[Event] = []
        for seq, output, token_id, text, _ in told:
            request_id = seq.request.id
            output.pieces.append(text)
            output.num_pending += 1
            events.append(tuple.__new__(Token, (now, request_id, token_id, text)))
            if is_streaming:
                events.append(self._hand_over(output, request_id, now))
        self._log.extend(events)

    def deliver(self, seq: Sequence, now: float) -> None:
        """Hand the client what was generated since the last time."""
        output = self._live.get(seq.id)
        if output is None:
            return
        if output.num_pending:
            self._log.append(self._hand_over(output, seq.id, now))
        if seq.is_finished:
            self._close(seq)

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

    def _hand_over(self, output: Output, request_id: str, now: float) -> Delivered:
        """Count what was pending as delivered."""
        num_tokens, output.num_pending = output.num_pending, 0
        output.num_delivered += num_tokens
        if 0 < output.cancel_after <= output.num_delivered:
            self._leaving.append(request_id)
        return tuple.__new__(Delivered, (now, request_id, num_tokens))
