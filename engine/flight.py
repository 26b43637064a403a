"""`Flight`: a forward pass from its launch until its tokens have come in.

With async scheduling the next pass is planned and launched while this one runs. So a sequence
moves on as soon as its pass is launched: its tokens count as computed, and `PENDING` stands at its
end for the token that is still to be sampled (the scheme of vLLM's `async_scheduling`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from engine.events import Split
from engine.plan import Launch, Plan, Row
from engine.record import Draft
from engine.request import PENDING, Sequence, Status


@dataclass(frozen=True, slots=True)
class Flight:
    """A pass that was launched.

    Attributes:
        samples: who gets a token, and the place of the token among theirs; in row order.
        promised: blocks that others share already, and that it has to fill.
        began, scheduled, launched, moved: seconds on the clock when its step began, its plan was
            made, the device had it, and its sequences had moved on.
    """

    plan: Plan
    launch: Launch
    draft: Draft
    samples: list[tuple[Sequence, int]]
    promised: tuple[int, ...]
    began: float
    scheduled: float
    launched: float
    moved: float

    @property
    def ends(self) -> Iterator[tuple[Sequence, int]]:
        """How many tokens each sequence has in the cache once the pass has run."""
        for seq, row in zip(self.draft.seqs, self.draft.rows, strict=True):
            yield seq, row.num_computed + row.num_tokens

    def split(
        self, awaited: float, came: float, detokenised: float, applied: float, log: float
    ) -> Split:
        """Where the time of the pass and of its step went.

        Args:
            awaited, came, detokenised, applied: seconds on the clock when its tokens were asked
                for, were there, were text, and were handed on.
            log: seconds that writing down the pass before took.
        """
        timing = self.launch.timing
        return Split(
            schedule=self.scheduled - self.began,
            launch=max(0.0, self.launched - self.scheduled - timing.prepare - timing.sample),
            wait=came - awaited,
            apply=self.moved - self.launched + applied - detokenised,
            prepare=timing.prepare,
            sample=timing.sample,
            detokenise=detokenised - came,
            log=log,
            device=timing.device,
        )


def advance(rows: Iterable[Row]) -> list[tuple[Sequence, int]]:
    """Move the sequences of a pass on that was just launched.

    A sequence that this token completes gets no `PENDING`, so that it is given no further row.

    Returns:
        Who gets a token, and the place of the token among theirs.
    """
    samples = []
    for seq, num_tokens in rows:
        token_ids = seq.token_ids
        end = seq.num_computed + num_tokens
        seq.num_computed = end
        if num_tokens and end == len(token_ids):
            samples.append((seq, end))
            if end + 1 < seq.max_num_tokens:
                token_ids.append(PENDING)
    return samples


def fill(samples: Iterable[tuple[Sequence, int]], token_ids: Iterable[int]) -> None:
    """Put the tokens that came out in their places, but for sequences that have ended."""
    for (seq, place), token_id in zip(samples, token_ids, strict=True):
        if seq.status is Status.FINISHED:
            continue
        if place < len(seq.token_ids):
            seq.token_ids[place] = token_id
        else:
            seq.token_ids.append(token_id)
