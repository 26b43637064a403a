"""Letters, dialogues and descriptions."""

import random

from engine.recipe.cast import draw_hero, draw_slots
from engine.recipe.data import load, words
from engine.recipe.grammar import capital, expand, with_article
from engine.recipe.turns import Turn


def letter_turn(rng: random.Random) -> Turn:
    """Ask for a letter."""
    source = load("prose")["letter"]
    reader = rng.choice(source["readers"])
    return Turn(rng.choice(source["questions"]).format(reader=reader), letter(rng))


def letter(rng: random.Random) -> str:
    """Return a letter of three to six sentences."""
    source = load("prose")["letter"]
    slots = draw_slots(rng, draw_hero(rng))
    reader, writer = rng.sample(words("girls") + words("boys"), 2)
    lines = _in_order(rng, source["sentences"], rng.randint(3, 6))
    body = " ".join(capital(expand(rng, line, slots)) for line in lines)
    return f"Dear {reader},\n{body}\n{rng.choice(source['closings'])},\n{writer}"


def dialogue_turn(rng: random.Random) -> Turn:
    """Ask for a dialogue of two."""
    source = load("prose")["dialogue"]
    left, right = rng.sample([*words("animals"), "girl", "boy", "robot", "king", "baker"], 2)
    request = rng.choice(source["questions"])
    question = request.format(left=with_article(left), right=with_article(right))
    return Turn(question, dialogue(rng, left, right))


def dialogue(rng: random.Random, left: str, right: str) -> str:
    """Let two talk in one to four exchanges, and perhaps say goodbye."""
    source = load("prose")["dialogue"]
    slots = draw_slots(rng, draw_hero(rng))
    exchanges = rng.sample(source["exchanges"], rng.choice([1, 2, 2, 3, 4]))
    if rng.random() < 0.7:
        exchanges.append([rng.choice(source["goodbyes"]), rng.choice(source["replies"])])
    lines = []
    for said, answered in exchanges:
        lines.append(f"{capital(left)}: {expand(rng, said, slots)}")
        lines.append(f"{capital(right)}: {expand(rng, answered, slots)}")
    return "\n".join(lines)


def description_turn(rng: random.Random) -> Turn:
    """Ask for a few lines about a scene."""
    source = load("prose")["description"]
    scene = rng.choice(source["scenes"])
    return Turn(rng.choice(source["questions"]).format(scene=scene), description(rng))


def description(rng: random.Random) -> str:
    """Return two to seven sentences that set a scene."""
    pool = load("prose")["description"]["sentences"]
    return " ".join(expand(rng, line) for line in rng.sample(pool, rng.randint(2, 7)))


def _in_order(rng: random.Random, lines: list[str], count: int) -> list[str]:
    return [lines[place] for place in sorted(rng.sample(range(len(lines)), count))]
