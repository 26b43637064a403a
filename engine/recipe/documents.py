"""The corpus: an endless stream of documents in the mixture that the model is trained on."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace

from engine.recipe.facts import compare_turn, fact_turn, reason_turn
from engine.recipe.filler import draw_filler, paragraph
from engine.recipe.lists import count_turn, guide_turn, list_turn
from engine.recipe.poems import poem_turn
from engine.recipe.prose import description_turn, dialogue_turn, letter_turn
from engine.recipe.stories import story_turn
from engine.recipe.talk import joke_turn, small_talk_turn, unknown_turn
from engine.recipe.trivia import trivia_turn
from engine.recipe.turns import Turn, render, render_prose

KINDS: dict[Callable[[random.Random], Turn], float] = {
    story_turn: 30,
    fact_turn: 24,
    list_turn: 7,
    guide_turn: 7,
    count_turn: 6,
    trivia_turn: 9,
    poem_turn: 5,
    small_talk_turn: 3.5,
    joke_turn: 1.5,
    letter_turn: 3,
    dialogue_turn: 3,
    description_turn: 3,
    unknown_turn: 5,
    compare_turn: 2.5,
    reason_turn: 2.5,
}
PROSE_SHARE = 0.07
LONG_SHARE = 0.035
VERY_LONG_SHARE = 0.02
MIN_FILLER_TOKENS = 10
MAX_FILLER_TOKENS = 4300
MAX_VERY_LONG_TOKENS = 7900


def documents(seed: int) -> Iterator[str]:
    """Yield documents without end; the same seed yields the same documents."""
    rng = random.Random(seed)
    while True:
        yield draw_document(rng)


def draw_document(rng: random.Random) -> str:
    """Return one document: prose, a long prompt with its answer, or a short conversation."""
    lot = rng.random()
    if lot < PROSE_SHARE:
        return render_prose(paragraph(rng))
    if lot < PROSE_SHARE + LONG_SHARE:
        return render(_long_conversation(rng))
    turns = 1 if rng.random() < 0.9 else rng.choice([2, 2, 3])
    return render([draw_turn(rng) for _ in range(turns)])


def draw_turn(rng: random.Random) -> Turn:
    """Return a question with its answer, the question typed more or less carefully."""
    turn = rng.choices(list(KINDS), list(KINDS.values()))[0](rng)
    return replace(turn, question=_typed(rng, turn.question))


def _long_conversation(rng: random.Random) -> list[Turn]:
    """Return turns with filler; several share one long text, so that more answers are learned."""
    if rng.random() < VERY_LONG_SHARE:
        return [_filled(rng, MAX_FILLER_TOKENS, MAX_VERY_LONG_TOKENS)]
    if rng.random() < 0.6:
        return [_filled(rng, MIN_FILLER_TOKENS, MAX_FILLER_TOKENS)]
    turns = rng.choice([2, 3, 4])
    return [_filled(rng, MIN_FILLER_TOKENS, MAX_FILLER_TOKENS // turns) for _ in range(turns)]


def _filled(rng: random.Random, min_tokens: int, max_tokens: int) -> Turn:
    filler = draw_filler(rng, min_tokens, max_tokens)
    return replace(draw_turn(rng), filler=filler)


def _typed(rng: random.Random, question: str) -> str:
    lot = rng.random()
    if lot < 0.12:
        question = question[:1].lower() + question[1:]
    elif lot < 0.21:
        question = question.lower()
    return question.rstrip(".?!") if rng.random() < 0.18 else question
