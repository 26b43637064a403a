"""`Draft`: a request before its prompt is written; it can be counted and plotted as it is."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Draft:
    """Who asks for what and when, and how long the client stays.

    Attributes:
        arrival: seconds since the workload began; for one that follows, not before then.
        num_prompt_tokens: without the prefix; None where `text` is given, which decides it.
        num_output_tokens: None where `answer` decides it.
        text: what the user says.
        answer: a text as long as the output.
        follows: id of the request whose answer the client waits for before it asks this.
        has_history: its prompt begins with that one's prompt and answer, on top of its own length.
        delay: seconds from that answer to this request.
        cancel_after_s: the client goes away so long after it asked.
        cancel_after_tokens: or once so many tokens have reached it.
        group, num_prefix_tokens: all prompts of a group begin with the same tokens.
        priority: the lower comes first, where the scheduling policy looks at it.
        filler: a file that the prompt is cut from; empty for the shipped corpus.
    """

    id: str
    label: str
    arrival: float
    num_prompt_tokens: int | None
    num_output_tokens: int | None
    text: str = ""
    answer: str = ""
    follows: str = ""
    delay: float = 0.0
    cancel_after_s: float | None = None
    cancel_after_tokens: int | None = None
    group: int | None = None
    num_prefix_tokens: int = 0
    filler: str = ""
    priority: int = 0
    has_history: bool = False

    def paced(self, pace: float) -> Draft:
        """The same with all its times stretched."""
        limit = self.cancel_after_s
        return replace(
            self,
            arrival=self.arrival * pace,
            delay=self.delay * pace,
            cancel_after_s=None if limit is None else limit * pace,
        )
