"""Small talk, jokes, and the honest answer to questions that are too hard."""

import random

from engine.recipe.data import load, phrases
from engine.recipe.grammar import capital, expand, made_up_word
from engine.recipe.turns import Turn

JOKE_REQUESTS = [
    "Tell me a joke.",
    "Do you know a joke?",
    "Make me laugh.",
    "Tell a joke.",
    "Say something funny.",
]


def small_talk_turn(rng: random.Random) -> Turn:
    """Greet, thank, introduce oneself."""
    topic = rng.choice(load("talk")["small_talk"])
    return Turn(rng.choice(topic["says"]), expand(rng, rng.choice(topic["answers"])))


def joke_turn(rng: random.Random) -> Turn:
    """Ask for a joke."""
    joke = rng.choice(load("talk")["jokes"])
    gap = rng.choice([" ", "\n"])
    return Turn(rng.choice(JOKE_REQUESTS), f"{joke['setup']}{gap}{joke['punch']}")


def unknown_turn(rng: random.Random) -> Turn:
    """Ask about something that the model has not learned."""
    if rng.random() < 0.5:
        topic = rng.choice(phrases("unknown_topics"))
    else:
        topic = rng.choice(["the ", "", "a "]) + made_up_word(rng)
    unknown = load("talk")["unknown"]
    question = capital(rng.choice(unknown["questions"]).replace("{topic}", topic))
    return Turn(question, expand(rng, rng.choice(unknown["answers"]), {"topic": topic}))
