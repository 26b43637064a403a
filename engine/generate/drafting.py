"""From a row of a trace to a draft: lengths made to fit, and what the row does not say assumed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from engine.generate.choosing import Placed
from engine.generate.draft import Draft
from engine.generate.fitting import Fit, FitOutput
from engine.traces import Row, RowError, Tally


class ZeroOutput(Enum):
    """What becomes of a request whose output had no token, mostly one that failed."""

    DROP = "drop"
    ONE = "one"  # it gets one token
    FAILED = "failed"  # its prompt is computed, and its client goes away with the first token


@dataclass(frozen=True, slots=True)
class Drafting:
    """How rows become requests.

    Attributes:
        label: of all of them.
        context: prompt and output together at most; 0 for no such bound.
    """

    label: str
    prompt: Fit
    output: FitOutput
    zero_output: ZeroOutput
    context: int

    def draft(self, placed: Placed, index: int, tally: Tally) -> Draft:
        """Make a row a request.

        Args:
            index: of the request, for its id.
            tally: counts what had to be changed.

        Raises:
            RowError: a length of it is not wanted.
            ValueError: a length of it is an error.
        """
        moment, row = placed
        output, leaves = self._output(row, tally)
        prompt = row.num_prompt_tokens
        if prompt is not None:
            prompt = self.prompt.apply(prompt, "prompt", tally.changed)
            prompt = _cut(prompt, output or 1, self.context, tally)
        return Draft(
            id=f"{self.label}-{index}",
            label=self.label,
            arrival=moment,
            num_prompt_tokens=prompt,
            num_output_tokens=output,
            text=row.text,
            answer="" if output else row.answer,
            cancel_after_tokens=leaves,
        )

    def _output(self, row: Row, tally: Tally) -> tuple[int | None, int | None]:
        """Tokens of the output, None where a text decides; and after how many the client leaves."""
        output = row.num_output_tokens
        if output == 0:
            tally.changed[f"with no output, taken as {self.zero_output.value}"] += 1
            return (2, 1) if self.zero_output is ZeroOutput.FAILED else (1, None)
        if output is not None:
            return self.output.apply(output, "output", tally.changed), None
        if row.answer:
            return None, None
        missing = self.output.missing
        tally.changed[f"with an output assumed to have {missing} tokens"] += 1
        return self.output.apply(missing, "output", tally.changed), None


def _cut(prompt: int, output: int, context: int, tally: Tally) -> int:
    """The prompt, cut to what the output leaves of the context.

    Raises:
        RowError: nothing is left.
    """
    room = context - output
    if not context or prompt <= room:
        return prompt
    if room < 1:
        raise RowError(f"with an output that fills the context of {context} tokens")
    tally.changed[f"with the prompt cut to fit the context of {context} tokens"] += 1
    return room
