"""Poems: couplets of lines that rhyme, the first of them on the topic asked for."""

import random
from typing import Any

from engine.recipe.data import load, phrases
from engine.recipe.grammar import made_up_word, without_article
from engine.recipe.turns import Turn

REQUESTS = [
    "Write a {length}poem about {topic}.",
    "Can you write a {length}poem about {topic}?",
    "Tell me a {length}poem about {topic}.",
    "Write a {length}poem.",
    "Make a {length}poem.",
]


def poem_turn(rng: random.Random) -> Turn:
    """Ask for a poem of one to six couplets."""
    topics = [without_article(topic) for topic in load("facts")] + phrases("unknown_topics")
    topic = rng.choice(topics) if rng.random() < 0.7 else made_up_word(rng)
    couplets = rng.choice([1, 2, 2, 3, 4, 6])
    length = {1: "short ", 4: "long ", 6: "long "}.get(couplets, "")
    question = rng.choice(REQUESTS).format(length=length, topic=topic)
    return Turn(question, poem(rng, couplets, topic if topic in question else None))


def poem(rng: random.Random, couplets: int, topic: str | None = None) -> str:
    """Return a poem in stanzas of four lines."""
    groups: list[dict[str, Any]] = load("rhymes")["groups"]
    leading = [group for group in groups if "lead" in group]
    first = rng.choice(leading if topic else groups)
    others = rng.sample([group for group in groups if group is not first], couplets - 1)
    pairs = [rng.sample(group["lines"], 2) for group in [first, *others]]
    if topic:
        pairs[0][0] = first["lead"].format(topic=topic)
    stanzas = [pairs[start : start + 2] for start in range(0, couplets, 2)]
    return "\n\n".join(_stanza(stanza) for stanza in stanzas)


def _stanza(pairs: list[list[str]]) -> str:
    lines = [line for pair in pairs for line in pair]
    return "\n".join(lines)[:-1] + "."
