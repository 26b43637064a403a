"""Measure a model folder: `python -m engine.recipe.evaluate DIR`.

Four questions: do answers stay on the topic asked for when filler stands before the question,
does the model end them, how long are they, and do stories keep to the names they began with.
"""

import argparse
import random
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from engine.recipe.answering import Answer, Answerer, percentiles
from engine.recipe.card import write_card
from engine.recipe.data import load, words
from engine.recipe.filler import draw_filler
from engine.recipe.saving import add_to_log

FILLER_TOKENS = [0, 100, 500, 1000, 2000, 4000, 7500]
ROUNDS = 1
PROMPTS_AT_ONCE = 8
SEED = 7
LENGTH_WISHES = {
    "in one sentence": "Explain {fact} in one sentence.",
    "short": "Tell me a short story about a {hero}.",
    "plain": "Tell me a story about a {hero}.",
    "long": "Tell me a long story about a {hero}.",
    "very long": "Tell me a very long story about a {hero}.",
}
HEROES = ["fox", "robot", "baker", "penguin", "dragon", "girl", "clockmaker", "snail"]
WORD = re.compile(r"\w+")
FACTS = ["the sun", "a bee", "latency", "a queue", "a clock", "honey", "prefill", "a whale"]


@dataclass(frozen=True, slots=True)
class Topicality:
    """How the answers behind some filler fare, as shares of all answers."""

    filler_tokens: int
    num_answers: int
    on_topic: float
    ended: float


def main() -> None:
    """Print the figures and write them into the training log and the model card."""
    parser = argparse.ArgumentParser(prog="python -m engine.recipe.evaluate", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    evaluate(arguments.folder, arguments.rounds)


def evaluate(folder: Path, rounds: int = ROUNDS) -> None:
    """Measure the folder, print each figure as it comes, and keep them all."""
    answerer = Answerer(folder)
    topicality = []
    for filler_tokens in FILLER_TOKENS:
        topicality.append(measure_topicality(answerer, filler_tokens, rounds))
        sys.stdout.write(f"{topicality[-1]}\n")
    lengths = {wish: measure_length(answerer, wish) for wish in LENGTH_WISHES}
    sys.stdout.write(f"answer lengths, p10/p50/p90: {lengths}\n")
    steady = measure_names(answerer)
    sys.stdout.write(f"stories with steady names: {steady}\n")
    add_to_log(
        folder,
        "evaluation",
        {
            "behind_filler": [asdict(row) for row in topicality],
            "answer_tokens": lengths,
            "stories_with_steady_names": steady,
        },
    )
    write_card(folder)


def measure_topicality(answerer: Answerer, filler_tokens: int, rounds: int) -> Topicality:
    """Ask every question behind filler of that length, each time another."""
    rng = random.Random(SEED + filler_tokens)
    questions = load("questions")["questions"] * rounds
    prompts = [_prompt(answerer, rng, question["ask"], filler_tokens) for question in questions]
    answers = list(_answer_all(answerer, prompts))
    is_on_topic = [
        any(word.lower() in answer.text.lower() for word in question["words"])
        for question, answer in zip(questions, answers, strict=True)
    ]
    return Topicality(
        filler_tokens=filler_tokens,
        num_answers=len(answers),
        on_topic=round(sum(is_on_topic) / len(answers), 3),
        ended=round(sum(answer.has_ended for answer in answers) / len(answers), 3),
    )


def measure_length(answerer: Answerer, wish: str) -> list[int]:
    """Return the percentiles of the answer length when it is asked for with these words."""
    answers = _answer_all(answerer, _wishes(wish) * 4)
    return percentiles([answer.num_tokens for answer in answers])


def measure_names(answerer: Answerer) -> float:
    """Return the share of short stories that name a hero and at most one more."""
    answers = list(_answer_all(answerer, _wishes("short") * 4))
    names = {*words("girls"), *words("boys"), *words("pet_names")}
    is_steady = [len(names & set(WORD.findall(answer.text))) <= 2 for answer in answers]
    return round(sum(is_steady) / len(answers), 3)


def _wishes(wish: str) -> list[str]:
    pairs = zip(HEROES, FACTS, strict=True)
    return [LENGTH_WISHES[wish].format(hero=hero, fact=fact) for hero, fact in pairs]


def _prompt(answerer: Answerer, rng: random.Random, question: str, filler_tokens: int) -> str:
    if filler_tokens == 0:
        return question
    text = draw_filler(rng, 2 * filler_tokens, 2 * filler_tokens)
    filler = answerer.cut(text, rng.randrange(50), filler_tokens)
    return f"{filler}\n\n{question}"


def _answer_all(answerer: Answerer, prompts: list[str]) -> Iterator[Answer]:
    for start in range(0, len(prompts), PROMPTS_AT_ONCE):
        yield from answerer.answer(prompts[start : start + PROMPTS_AT_ONCE], SEED + start)


if __name__ == "__main__":
    main()
