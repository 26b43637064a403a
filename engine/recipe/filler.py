"""Filler: prose of a given length that stands before a question and has nothing to do with it."""

import math
import random

from engine.recipe.data import load
from engine.recipe.facts import explain
from engine.recipe.lists import guide
from engine.recipe.prose import description, letter
from engine.recipe.stories import tell

CHARACTERS_PER_TOKEN = 4.1
GAPS = ["\n\n", "\n\n", "\n", " "]


def paragraph(rng: random.Random) -> str:
    """Return one piece of prose: a story, an explanation, a letter, a guide or a description."""
    lot = rng.random()
    if lot < 0.5:
        return tell(rng)
    if lot < 0.8:
        return explain(rng, rng.choice(list(load("facts"))))
    if lot < 0.87:
        return letter(rng)
    if lot < 0.94:
        return guide(rng, rng.choice(list(load("howto"))))
    return description(rng)


def draw_filler(rng: random.Random, min_tokens: int, max_tokens: int) -> str:
    """Return filler of a log-uniform length, often cut at both ends in the middle of a word."""
    tokens = math.exp(rng.uniform(math.log(min_tokens), math.log(max_tokens)))
    size = round(tokens * CHARACTERS_PER_TOKEN)
    text = paragraph(rng)
    text = text[rng.randrange(len(text)) :] if rng.random() < 0.7 else text
    while len(text) < size:
        text += rng.choice(GAPS) + paragraph(rng)
    return text[:size].strip() or "..."
