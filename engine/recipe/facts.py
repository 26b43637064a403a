"""Questions about things: what they are, how they differ, why they are so."""

import random

from engine.recipe.data import load
from engine.recipe.grammar import capital, lower, plural, sentences, without_article
from engine.recipe.turns import Turn

PLURAL_TOPICS = {"the stars", "clouds"}
FORMS = [
    "What {be} {topic}?",
    "What {be} {topic}?",
    "Tell me about {topic}.",
    "Explain {topic}.",
    "Explain what {topic} {be}.",
    "Can you explain {topic}?",
    "Describe {topic}.",
    "Write a short text about {topic}.",
    "I want to know more about {topic}.",
    "Tell me something about {topic}.",
    "What do you know about {topic}?",
    "Please explain {topic}.",
]
PLURAL_FORMS = ["Tell me about {them}.", "What are {them}?", "What do you know about {them}?"]
MASS_FORMS = ["What {be} {bare}?", "How {do} {topic} work?"]
DETAILS = [
    (0.62, [""], (0, 0)),
    (0.74, [" in one sentence", " in a few words", " briefly", " in short"], (1, 1)),
    (0.86, [" in two sentences", " in a simple way"], (2, 2)),
    (1.00, [" in detail", " in more detail", " with as much detail as you can"], (4, 9)),
]
COMPARISONS = [
    "What is the difference between {left} and {right}?",
    "Compare {left} and {right}.",
    "How is {left} different from {right}?",
    "Explain the difference between {left} and {right}.",
]


def fact_turn(rng: random.Random) -> Turn:
    """Ask about one topic, often with a wish for the length."""
    topic = rng.choice(list(load("facts")))
    if rng.random() < 0.07:
        return Turn(f"Give me a fact about {topic}.", rng.choice(load("facts")[topic]["opens"]))
    suffix, span = _draw_detail(rng)
    question = _ask(rng, topic)
    question = question[:-1] + suffix + question[-1]
    if topic != topic.lower() and rng.random() < 0.4:
        question = question.lower()
    return Turn(question, explain(rng, topic, span))


def compare_turn(rng: random.Random) -> Turn:
    """Ask how two things differ."""
    pair = rng.choice(load("talk")["comparisons"])
    question = rng.choice(COMPARISONS).format(left=pair["left"], right=pair["right"])
    text = pair["text"]
    return Turn(question, " ".join(sentences(text)[:2]) if rng.random() < 0.3 else text)


def reason_turn(rng: random.Random) -> Turn:
    """Ask why something is so."""
    reason = rng.choice(load("talk")["reasons"])
    text = reason["text"]
    return Turn(f"Why {reason['why']}?", text if rng.random() < 0.8 else sentences(text)[0])


def explain(rng: random.Random, topic: str, span: tuple[int, int] = (0, 0)) -> str:
    """Return a few sentences about the topic.

    Args:
        span: The least and the greatest number of sentences; zeros leave it to chance.
    """
    fact = load("facts")[topic]
    rest = list(fact["more"])
    if rng.random() < 0.5:
        rng.shuffle(rest)
    count = rng.randint(*span) - 1 if span[0] else rng.choice([1, 2, 3, 3, 4, 9])
    told = [rng.choice(fact["opens"]), *rest[:count]]
    if len(told) >= 4 and rng.random() < 0.3:
        told[-1] = rng.choice(["Also, ", "And remember: ", "One more thing: "]) + lower(told[-1])
    return " ".join(told)


def _draw_detail(rng: random.Random) -> tuple[str, tuple[int, int]]:
    lot = rng.random()
    suffixes, span = next((words, span) for limit, words, span in DETAILS if lot < limit)
    return rng.choice(suffixes), span


def _ask(rng: random.Random, topic: str) -> str:
    is_plural = topic in PLURAL_TOPICS
    bare = without_article(topic)
    forms = FORMS + (PLURAL_FORMS if topic.startswith(("a ", "an ")) else MASS_FORMS)
    return capital(
        rng.choice(forms).format(
            topic=topic,
            bare=bare,
            them=plural(bare),
            be="are" if is_plural else "is",
            do="do" if is_plural else "does",
        )
    )
