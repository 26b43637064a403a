"""A turn of a conversation: what the user says and what the model answers."""

from dataclasses import dataclass

BOS = "<|bos|>"
END = "<|end|>"
USER = "<|user|>"
ASSISTANT = "<|assistant|>"


@dataclass(frozen=True, slots=True)
class Turn:
    """One question with its answer.

    Attributes:
        filler: Unrelated text that stands before the question; empty in most turns.
    """

    question: str
    answer: str
    filler: str = ""

    def render(self) -> str:
        """Return the turn in the chat format of the model."""
        said = f"{self.filler}\n\n{self.question}" if self.filler else self.question
        return f"{USER}{said}{ASSISTANT}{self.answer}{END}"


def render(turns: list[Turn]) -> str:
    """Return a whole conversation in the chat format of the model."""
    return BOS + "".join(turn.render() for turn in turns)


def render_prose(text: str) -> str:
    """Return text without a question as a document of its own."""
    return f"{BOS}{text}{END}"
