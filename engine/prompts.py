"""Prompts of an exact number of tokens, for any tokenizer.

The user's turn is filler, a blank line and a question, in the model's chat template. Filler
comes from the shipped corpus, which is encoded once, so that a prompt is a slice and costs no
encoding; the question is one that the shipped model can answer.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from itertools import accumulate, chain
from pathlib import Path

import numpy as np

from engine.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Question:
    """Something to ask the shipped model.

    Attributes:
        answer_tokens: a short, a typical and a long answer of it, in tokens.
        sample: one of its answers.
    """

    text: str
    answer_tokens: tuple[int, int, int]
    sample: str


@dataclass(frozen=True, slots=True)
class Encoded:
    """A question as token ids in the chat template.

    Attributes:
        alone: the whole prompt.
        after_filler: what follows a filler: a blank line, the question and the template's tail.
    """

    alone: tuple[int, ...]
    after_filler: tuple[int, ...]


class PromptMaker:
    """Makes prompts for one tokenizer.

    Args:
        text: what filler is cut from; None for the shipped corpus.
    """

    def __init__(self, tokenizer: Tokenizer, text: str | None = None) -> None:
        self._tokenizer = tokenizer
        self._text = text
        self._others: dict[str, PromptMaker] = {}

    def cut_from(self, path: str) -> PromptMaker:
        """One whose filler is cut from a file; it is read once.

        Raises:
            OSError, UnicodeDecodeError: it cannot be read.
        """
        if path not in self._others:
            self._others[path] = PromptMaker(self._tokenizer, Path(path).read_text("utf-8"))
        return self._others[path]

    def count(self, text: str) -> int:
        """Tokens of a text, without any template."""
        return len(self._tokenizer.encode(text))

    def filler(self, num_tokens: int, rng: np.random.Generator) -> tuple[int, ...]:
        """So many tokens of running text, from the beginning of some line."""
        return self._corpus.cut(self._corpus.draw_start(rng), num_tokens)

    def chat(self, text: str) -> tuple[int, ...]:
        """A user's message in the chat template."""
        return tuple(self._tokenizer.encode_chat(text))

    def make(
        self, num_tokens: int, rng: np.random.Generator, opening: tuple[int, ...] = ()
    ) -> tuple[int, ...]:
        """A prompt of exactly `num_tokens` tokens, which are at least 1, and an opening.

        A length too small for any question cuts one off. Two numbers are drawn, whatever the
        length.

        Args:
            opening: what the user's turn begins with; it adds to the length.
        """
        if num_tokens < 1:
            raise ValueError(f"num_tokens must be at least 1, got {num_tokens}")
        num_fitting = bisect_right(self._encoded, num_tokens, key=lambda each: len(each.alone))
        question = self._encoded[rng.integers(max(1, num_fitting))]
        start = self._corpus.draw_start(rng)
        head, tail = self._template
        beginning = head + opening
        for end in (question.after_filler, question.alone[len(head) :]):
            if (room := num_tokens - len(head) - len(end)) >= 0:
                return beginning + self._corpus.cut(start, room) + end
        room = num_tokens - len(head) - len(tail)
        if room <= 0:
            return opening + question.alone[:num_tokens]
        return beginning + question.alone[len(head) : len(head) + room] + tail

    @cached_property
    def _template(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What the chat template puts before and after a message, as ids."""
        one, other = self.chat("the"), self.chat("batch")
        head = _shared(one, other)
        tail = _shared(one[head:][::-1], other[head:][::-1])
        return one[:head], one[len(one) - tail :]

    @cached_property
    def _encoded(self) -> list[Encoded]:
        """Every question, shortest first."""
        encoded = [self._encode(question.text) for question in load_questions()]
        return sorted(encoded, key=lambda each: len(each.alone))

    @cached_property
    def _corpus(self) -> Corpus:
        text = self._text
        if text is None:
            text = (files("engine") / "models" / "corpus.txt").read_text("utf-8")
        # Line by line, since some tokenizers warn of texts beyond the model's context.
        lines = [self._tokenizer.encode(line) for line in text.splitlines(keepends=True)]
        return Corpus.of([line for line in lines if line])

    def _encode(self, question: str) -> Encoded:
        filled = self.chat(f"the\n\n{question}")
        return Encoded(self.chat(question), filled[_shared(filled, self.chat("the")) :])


@dataclass(frozen=True, slots=True)
class Corpus:
    """Filler as token ids.

    Attributes:
        starts: where its lines begin, blank ones left out.
    """

    token_ids: tuple[int, ...]
    starts: tuple[int, ...]

    @classmethod
    def of(cls, lines: list[list[int]]) -> Corpus:
        begins = accumulate((len(line) for line in lines), initial=0)
        starts = tuple(at for at, line in zip(begins, lines, strict=False) if len(line) > 1)
        return cls(tuple(chain.from_iterable(lines)), starts or (0,))

    def draw_start(self, rng: np.random.Generator) -> int:
        """The beginning of some line."""
        return self.starts[rng.integers(len(self.starts))]

    def cut(self, start: int, num_tokens: int) -> tuple[int, ...]:
        """Ids from `start` on; past its end the corpus begins again."""
        piece = self.token_ids[start : start + num_tokens]
        while len(piece) < num_tokens:
            piece += self.token_ids[: num_tokens - len(piece)]
        return piece


@cache
def load_questions() -> tuple[Question, ...]:
    """The shipped questions, from short answers to long ones."""
    text = (files("engine") / "models" / "prompts.json").read_text("utf-8")
    return tuple(
        Question(each["prompt"], tuple(each["tokens"]), each["sample"]) for each in json.loads(text)
    )


def _shared(one: Sequence[int], other: Sequence[int]) -> int:
    """How many ids two sequences have in common at the start."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
