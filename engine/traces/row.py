"""`Row`: what one row of any trace says of its request."""

from __future__ import annotations

from dataclasses import dataclass


class RowError(ValueError):
    """A row that cannot become a request; the message is the reason, in a few words."""


@dataclass(frozen=True, slots=True)
class Row:
    """A request as it was recorded.

    Attributes:
        stamp: nanoseconds on the trace's clock; None where the row does not say.
        num_prompt_tokens, num_output_tokens: None where a text stands instead, or nothing.
        text: what the user said.
        answer: what was answered.
        key: what later rows of its session know it by; empty for none.
        before: the key of the row whose answer came before it; empty for none.
        delay: nanoseconds from that answer to this request; None where the row does not say.
    """

    stamp: int | None
    num_prompt_tokens: int | None
    num_output_tokens: int | None
    text: str = ""
    answer: str = ""
    key: str = ""
    before: str = ""
    delay: int | None = None
