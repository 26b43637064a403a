from collections.abc import Sequence

import pytest

from engine.recipe.answering import Answer, percentiles
from engine.recipe.data import load
from engine.recipe.evaluate import (
    LENGTH_WISHES,
    measure_length,
    measure_names,
    measure_topicality,
)


class Parrot:
    """Answers with the question itself, and cuts texts by letters instead of tokens."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def answer(self, prompts: Sequence[str], seed: int) -> list[Answer]:
        self.asked += prompts
        questions = [prompt.rsplit("\n\n", 1)[-1] for prompt in prompts]
        return [Answer(text, len(text), has_ended="?" in text) for text in questions]

    def cut(self, text: str, start: int, num_tokens: int) -> str:
        return text[start : start + num_tokens]


def test_an_answer_is_on_topic_if_it_holds_one_of_the_words():
    questions = load("questions")["questions"]
    named = [
        each for each in questions if any(w.lower() in each["ask"].lower() for w in each["words"])
    ]
    measured = measure_topicality(Parrot(), filler_tokens=0, rounds=2)
    assert measured.num_answers == 2 * len(questions)
    assert measured.on_topic == round(len(named) / len(questions), 3)
    assert 0 < measured.ended < 1


def test_the_question_stands_behind_filler_of_the_length_asked_for():
    parrot = Parrot()
    measure_topicality(parrot, filler_tokens=300, rounds=1)
    fillers = [prompt.rsplit("\n\n", 1)[0] for prompt in parrot.asked]
    assert {len(filler) for filler in fillers} == {300}
    assert len(set(fillers)) == len(fillers)


@pytest.mark.parametrize("wish", LENGTH_WISHES)
def test_each_wish_for_a_length_is_measured(wish):
    low, middle, high = measure_length(Parrot(), wish)
    assert 0 < low <= middle <= high


class Storyteller(Parrot):
    """Tells of one more person in every other answer."""

    def answer(self, prompts: Sequence[str], seed: int) -> list[Answer]:
        others = ["Mia", "Mia and Tom"] * len(prompts)
        texts = [f"Pip met {other}." for other, _ in zip(others, prompts, strict=False)]
        return [Answer(text, len(text), has_ended=True) for text in texts]


def test_a_story_that_names_a_third_person_is_not_steady():
    assert measure_names(Storyteller()) == 0.5


def test_percentiles_are_taken_from_the_sorted_counts():
    assert percentiles([30, 10, 20, 50, 40, 60, 70, 80, 90, 100, 110]) == [20, 60, 100]
    assert percentiles([7]) == [7, 7, 7]
