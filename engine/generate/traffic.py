"""Who asks for what and when: `RequestClass` makes many alike, `SingleRequest` is one.

Both give drafts, which a reader can count and plot without a tokenizer.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.checks import require, require_natural, require_positive
from engine.generate.arrivals import AnyArrivals
from engine.generate.lengths import AnyLengths
from engine.generate.streams import stream


@dataclass(frozen=True, slots=True)
class Draft:
    """A request whose prompt is not written yet.

    Attributes:
        arrival: seconds since the workload began.
        num_prompt_tokens: None where `text` is given, which decides it.
    """

    id: str
    label: str
    arrival: float
    num_prompt_tokens: int | None
    num_output_tokens: int
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestClass:
    """Requests that come by one process and have lengths of one kind: open-loop traffic.

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

    def drafts(self, seed: int) -> list[Draft]:
        """Draw the requests of this class, in order of arrival.

        Raises:
            ValueError: no length can be drawn, or the arrivals would never end.
        """
        times = self.arrival.times(stream(seed, self.name, "arrival"), self.count, self.until_s)
        prompts = self.prompt.draw(stream(seed, self.name, "prompt"), len(times))
        outputs = self.output.draw(stream(seed, self.name, "output"), len(times))
        lots = enumerate(zip(times, prompts, outputs, strict=True))
        return [Draft(f"{self.name}-{at}", self.name, *lot) for at, lot in lots]


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleRequest:
    """One request, spelled out.

    Attributes:
        prompt: what the user says; or `prompt_tokens`: how long it is.
    """

    label: str
    output_tokens: int
    at_s: float = 0.0
    prompt: str = ""
    prompt_tokens: int | None = None

    def __post_init__(self) -> None:
        require(bool(self.label), "label must not be empty")
        require_natural(at_s=self.at_s)
        require_positive(output_tokens=self.output_tokens)
        is_one = bool(self.prompt) != (self.prompt_tokens is not None)
        require(is_one, "one of prompt and prompt_tokens must be given, and not both")
        require_positive(prompt_tokens=1 if self.prompt_tokens is None else self.prompt_tokens)

    def drafts(self) -> list[Draft]:
        """The request, as a list of one."""
        prompt, output = self.prompt_tokens, self.output_tokens
        return [Draft(self.label, self.label, self.at_s, prompt, output, self.prompt)]
