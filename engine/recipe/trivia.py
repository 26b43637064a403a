"""Questions with an answer of a few words: capitals, opposites, animals, colors, sums."""

import random
from collections.abc import Callable

from engine.recipe.data import load
from engine.recipe.grammar import capital, with_article
from engine.recipe.turns import Turn

CAPITAL_REQUESTS = [
    "What is the capital of {country}?",
    "Name the capital of {country}.",
    "What is the capital city of {country}?",
    "Tell me the capital of {country}.",
]
OPPOSITE_REQUESTS = [
    "What is the opposite of {word}?",
    "Give me the opposite of {word}.",
    "Tell me the opposite of {word}.",
]


def trivia_turn(rng: random.Random) -> Turn:
    """Ask a short question."""
    makers: list[Callable[[random.Random], Turn]] = [_capital, _opposite, _sound, _young, _color]
    return rng.choices([*makers, _sum], [30, 20, 12, 12, 10, 16])[0](rng)


def _capital(rng: random.Random) -> Turn:
    country, city = rng.choice(list(load("trivia")["capitals"].items()))
    plain = f"The capital of {country} is {city}."
    answer = rng.choice([plain, plain, f"{city} is the capital of {country}.", f"{city}."])
    return Turn(rng.choice(CAPITAL_REQUESTS).format(country=country), answer)


def _opposite(rng: random.Random) -> Turn:
    pair = list(rng.choice(list(load("trivia")["opposites"].items())))
    rng.shuffle(pair)
    word, other = pair
    plain = f"The opposite of {word} is {other}."
    answer = rng.choice([plain, plain, f"{capital(other)}."])
    return Turn(rng.choice(OPPOSITE_REQUESTS).format(word=word), answer)


def _sound(rng: random.Random) -> Turn:
    animal, sound = rng.choice(list(load("trivia")["sounds"].items()))
    one = with_article(animal)
    request = rng.choice(["What sound does {one} make?", "What does {one} say?"])
    return Turn(request.format(one=one), f"{capital(one)} {sound}.")


def _young(rng: random.Random) -> Turn:
    animal, young = rng.choice(list(load("trivia")["young"].items()))
    request = rng.choice(["What is a young {animal} called?", "What do you call a baby {animal}?"])
    answer = f"A young {animal} is called {with_article(young)}."
    return Turn(request.format(animal=animal), answer)


def _color(rng: random.Random) -> Turn:
    thing, color = rng.choice(list(load("trivia")["colors"].items()))
    return Turn(f"What color is {thing}?", f"{capital(thing)} is {color}.")


def _sum(rng: random.Random) -> Turn:
    operation = rng.choice(["plus", "plus", "minus", "times"])
    left, right = rng.randint(0, 12), rng.randint(0, 12)
    if operation == "plus":
        request = rng.choice(["What is {} plus {}?", "What is {} + {}?", "How much is {} plus {}?"])
        return Turn(request.format(left, right), f"{left} plus {right} is {left + right}.")
    if operation == "minus":
        left, right = max(left, right), min(left, right)
        return Turn(f"What is {left} minus {right}?", f"{left} minus {right} is {left - right}.")
    request = rng.choice(["What is {} times {}?", "How much is {} times {}?"])
    return Turn(request.format(left, right), f"{left} times {right} is {left * right}.")
