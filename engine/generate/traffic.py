"""Open-loop traffic: `RequestClass` makes many requests alike, `SingleRequest` is one.

Both give drafts, which a reader can count and plot without a tokenizer.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.checks import require, require_natural, require_positive
from engine.generate.arrivals import AnyArrivals, Constant, Gamma, Poisson, Ramp
from engine.generate.draft import Draft
from engine.generate.lengths import AnyLengths
from engine.generate.phases import Tempo
from engine.generate.streams import stream
from engine.generate.traits import Traits, check_patience

RATED = Constant | Poisson | Gamma | Ramp  # what phases make faster or slower
EVEN = Tempo()


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestClass(Traits):
    """Requests that come by one process and have lengths of one kind.

    Attributes:
        count: so many; or `until_s`: until that moment; with both, whichever comes first.
        prompt, output: lengths in tokens.
    """

    name: str
    arrival: AnyArrivals
    prompt: AnyLengths
    output: AnyLengths
    count: int | None = None
    until_s: float | None = None

    def __post_init__(self) -> None:
        require(bool(self.name), "name must not be empty")
        is_bounded = self.count is not None or self.until_s is not None
        require(is_bounded, "one of count and until_s must be given, or it never ends")
        require_positive(count=1 if self.count is None else self.count)
        require_natural(until_s=self.until_s or 0.0)

    def drafts(self, seed: int, tempo: Tempo = EVEN, folder: Path = Path()) -> list[Draft]:
        """Draw the requests of this class, in order of arrival.

        Args:
            folder: where a path begins.

        Raises:
            ValueError: no length can be drawn, the arrivals would never end, or the text's file
                is not there.
        """
        times = self._times(seed, tempo)
        prompts = self.prompt.draw(stream(seed, self.name, "prompt"), len(times))
        outputs = self.output.draw(stream(seed, self.name, "output"), len(times))
        lots = enumerate(zip(times, prompts, outputs, strict=True))
        drafts = [Draft(f"{self.name}-{at}", self.name, *lot) for at, lot in lots]
        return self.give(drafts, seed, self.name, folder)

    def _times(self, seed: int, tempo: Tempo) -> list[float]:
        """When they come; a rate follows the tempo, a moment that was named does not."""
        rng = stream(seed, self.name, "arrival")
        arrival = self.arrival
        if tempo.is_even or not isinstance(arrival, RATED):
            return arrival.times(rng, self.count, self.until_s)
        shift = arrival.at_s - tempo.passed(arrival.at_s)
        until = None if self.until_s is None else tempo.passed(self.until_s) + shift
        return [tempo.moment(at - shift) for at in arrival.times(rng, self.count, until)]


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleRequest:
    """One request, spelled out.

    Attributes:
        at_s: when it comes; in a session, not before then.
        prompt: what the user says; or `prompt_tokens`: how long it is.
        session: requests of one session come one after the other, each after the answer to the
            one before it in the file.
        cancel_after_s: the client goes away so many seconds after it asked; or
        cancel_after_tokens: once so many tokens have reached it.
        priority: the lower comes first.
    """

    label: str
    output_tokens: int
    at_s: float = 0.0
    prompt: str = ""
    prompt_tokens: int | None = None
    session: str = ""
    cancel_after_s: float | None = None
    cancel_after_tokens: int | None = None
    priority: int = 0

    def __post_init__(self) -> None:
        require(bool(self.label), "label must not be empty")
        require_natural(at_s=self.at_s)
        require_positive(output_tokens=self.output_tokens)
        is_one = bool(self.prompt) != (self.prompt_tokens is not None)
        require(is_one, "one of prompt and prompt_tokens must be given, and not both")
        require_positive(prompt_tokens=1 if self.prompt_tokens is None else self.prompt_tokens)
        require_natural(cancel_after_s=self.cancel_after_s or 0.0)
        check_patience(None, self.cancel_after_tokens)

    def draft(self, follows: str = "") -> Draft:
        """The request, after the answer to another one where one is named."""
        return Draft(
            id=self.label,
            label=self.label,
            arrival=self.at_s,
            num_prompt_tokens=self.prompt_tokens,
            num_output_tokens=self.output_tokens,
            text=self.prompt,
            follows=follows,
            cancel_after_s=self.cancel_after_s,
            cancel_after_tokens=self.cancel_after_tokens,
            priority=self.priority,
        )
