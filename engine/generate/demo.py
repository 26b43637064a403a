"""`DemoMix`: an endless, gentle mix of short questions and a few long stories."""

from __future__ import annotations

from copy import copy
from itertools import count

from engine.actions import Action
from engine.checks import require_positive
from engine.generate.streams import stream
from engine.generate.write import sample_output
from engine.prompts import PromptMaker, Question, load_questions
from engine.request import Answer, Request

LONG_ANSWER = 130  # tokens typically, from which on an answer counts as a story
STORY_SHARE = 0.2
SLACK = 32  # tokens that an answer may be longer than those seen


class DemoMix:
    """Questions that the shipped model can answer, as if from independent people, without end.

    It is a `Workload`. Answers end where the model ends them; `max_tokens` follows the usual
    length of each answer, so that a simulation, which knows no end, keeps the mix of lengths.

    Args:
        rate: requests a second on average, above 0.
        most_open: nobody asks while so many wait for their answers, so that the queue of a slow
            machine does not grow without end; None lets them ask all the same.

    Attributes:
        most_open: may be set by another thread.
        is_held: it has waited for answers, and more than half as many are still open.
    """

    def __init__(
        self,
        prompts: PromptMaker,
        rate: float = 1.0,
        seed: int = 0,
        most_open: int | None = None,
    ) -> None:
        require_positive(rate=rate)
        self.most_open = most_open
        self.is_held = False
        self._open: set[str] = set()
        self._prompts = prompts
        self._rate = rate
        self._ids = count()
        self._gaps = stream(seed, "demo", "arrival")
        self._choices = stream(seed, "demo", "text")
        self._sampling = stream(seed, "demo", "sampling")
        self._stories = [each for each in load_questions() if each.answer_tokens[1] >= LONG_ANSWER]
        self._short = [each for each in load_questions() if each.answer_tokens[1] < LONG_ANSWER]
        self._next = 0.0  # the first comes at once, so that nobody looks at an empty screen

    def again(self) -> DemoMix:
        """The mix gone on with: its next request comes at once, under a name that is new."""
        twin = copy(self)
        twin._next, twin._open, twin.is_held = 0.0, set(), False
        return twin

    @property
    def is_over(self) -> bool:
        return False

    def next_arrival(self) -> float | None:
        return None if self._is_full else self._next

    def next_time(self) -> float | None:
        return self.next_arrival()

    def take(self, until: float) -> list[Request | Action]:
        taken: list[Request | Action] = []
        while self._next <= until and not self._is_full:
            taken.append(self._ask(self._next))
            self._next += self._gaps.exponential(1 / self._rate)
        self.is_held |= self._is_full
        return taken

    def answered(self, answer: Answer, now: float) -> None:
        """Let the next one ask, if it was too many; those who did not ask are gone."""
        was_full = self._is_full
        self._open.discard(answer.request_id)
        if was_full and not self._is_full:
            self._next = max(self._next, now)
        if self.most_open is None or 2 * len(self._open) <= self.most_open:
            self.is_held = False

    @property
    def _is_full(self) -> bool:
        return self.most_open is not None and len(self._open) >= self.most_open

    def _ask(self, arrival: float) -> Request:
        is_story = self._choices.random() < STORY_SHARE
        question = self._choose(self._stories if is_story else self._short)
        max_tokens = question.answer_tokens[2] + SLACK
        params = sample_output(max_tokens, self._sampling, ignore_eos=False)
        prompt = self._prompts.chat(question.text)
        label = "story" if is_story else "question"
        request = Request(f"r{next(self._ids)}", prompt, params, arrival, label)
        self._open.add(request.id)
        return request

    def _choose(self, questions: list[Question]) -> Question:
        return questions[self._choices.integers(len(questions))]
