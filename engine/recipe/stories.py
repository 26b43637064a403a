"""Stories: an opening, the plot told at the length asked for, perhaps more chapters, an ending."""

import random
from dataclasses import dataclass
from enum import IntEnum

from engine.recipe.cast import Person, draw_hero, draw_slots
from engine.recipe.data import load, phrases, words
from engine.recipe.grammar import Slots, capital, expand, made_up_word, with_article
from engine.recipe.turns import Turn


class Length(IntEnum):
    """How much of a plot is told; each line of a plot names the length from which on it is."""

    SHORT = 0
    MEDIUM = 1
    LONG = 2
    VERY_LONG = 3


@dataclass(frozen=True, slots=True)
class Wish:
    """What a story was asked to contain; None where anything will do."""

    kind: str | None = None
    name: str | None = None
    thing: str | None = None


ANYTHING = Wish()
LENGTHS = [Length.SHORT, Length.MEDIUM, Length.MEDIUM, Length.LONG]
ASKED_LENGTHS = (
    [Length.SHORT] * 4 + [Length.MEDIUM] * 9 + [Length.LONG] * 4 + [Length.VERY_LONG] * 2
)
LENGTH_WORDS = {
    Length.SHORT: ["short ", "very short ", "little ", "short "],
    Length.MEDIUM: ["", "", "", "nice ", "bedtime ", "funny "],
    Length.LONG: ["long ", "long ", "detailed "],
    Length.VERY_LONG: ["very long ", "very, very long ", "really long "],
}
REQUESTS = [
    "Tell me a {what}.",
    "Tell a {what}.",
    "Write a {what}.",
    "Can you tell me a {what}?",
    "I want to hear a {what}.",
    "Please write a {what}.",
    "Make up a {what}.",
    "A {what}, please.",
]


def story_turn(rng: random.Random) -> Turn:
    """Ask for a story and tell it."""
    length = rng.choice(ASKED_LENGTHS)
    wish, about = _draw_wish(rng)
    what = f"{rng.choice(LENGTH_WORDS[length])}story{about}"
    return Turn(rng.choice(REQUESTS).replace("{what}", what), tell(rng, length, wish))


def tell(rng: random.Random, length: Length | None = None, wish: Wish = ANYTHING) -> str:
    """Return one story."""
    length = rng.choice(LENGTHS) if length is None else length
    hero = draw_hero(rng, wish.kind, wish.name)
    slots = draw_slots(rng, hero, wish.thing)
    plots = _plots_with(wish.thing)
    plot = rng.choice(plots)
    text = expand(rng, rng.choice(phrases("openings")), slots)
    text += " " + _chapter(rng, plot, length, slots)
    for later_length in _later_chapters(rng, length):
        plot = rng.choice([other for other in _plots_in_time() if other is not plot])
        slots = _later_slots(rng, hero, slots)
        text += "\n" + _chapter(rng, plot, later_length, slots)
    if length > Length.SHORT or rng.random() < 0.6:
        text += " " + capital(expand(rng, rng.choice(phrases("endings")), slots))
    return text


def _draw_wish(rng: random.Random) -> tuple[Wish, str]:
    lot = rng.random()
    if lot < 0.55:
        return _draw_hero_wish(rng)
    if lot < 0.67:
        kind = made_up_word(rng)
        return Wish(kind=kind), f" about {with_article(kind)}"
    if lot < 0.85:
        thing = rng.choice(words("objects"))
        return Wish(thing=thing), f" about {with_article(thing)}"
    return ANYTHING, ""


def _draw_hero_wish(rng: random.Random) -> tuple[Wish, str]:
    kinds = ["girl", "boy", *words("animals"), *words("folk"), *words("wonders")]
    kind = rng.choice(kinds + words("more_heroes"))
    lot = rng.random()
    if lot < 0.33:
        thing = rng.choice(words("objects"))
        return Wish(
            kind=kind, thing=thing
        ), f" about {with_article(kind)} and {with_article(thing)}"
    if lot < 0.5:
        return Wish(
            kind=kind
        ), f" about {with_article(rng.choice(words('adjectives')) + ' ' + kind)}"
    if lot < 0.6:
        name = draw_hero(rng, kind).name
        return Wish(kind=kind, name=name), f" about {with_article(kind)} named {name}"
    return Wish(kind=kind), f" about {with_article(kind)}"


def _plots() -> list[str]:
    return [plot["lines"] for plot in load("plots")["plots"]]


def _plots_with(thing: str | None) -> list[str]:
    return [plot for plot in _plots() if thing is None or "obj" in plot]


def _plots_in_time() -> list[str]:
    """Return the plots that begin with a time and so can follow another one."""
    return [plot for plot in _plots() if "$time" in plot]


def _later_chapters(rng: random.Random, length: Length) -> list[Length]:
    brief = rng.choice([Length.SHORT, Length.MEDIUM])
    if length is Length.VERY_LONG:
        return [Length.LONG, brief] if rng.random() < 0.5 else [Length.MEDIUM, Length.MEDIUM]
    if length is Length.LONG and rng.random() < 0.4:
        return [brief]
    return []


def _later_slots(rng: random.Random, hero: Person, slots: Slots) -> dict[str, str]:
    later = draw_slots(rng, hero)
    while later["fname"] == slots["fname"]:
        later = draw_slots(rng, hero)
    return {**later, "place": slots["place"], "time": rng.choice(phrases("later_times"))}


def _chapter(rng: random.Random, plot: str, length: Length, slots: Slots) -> str:
    """Tell the lines of the plot that belong to the length, paragraph by paragraph."""
    paragraphs = []
    for block in plot.strip().split("\n\n"):
        told = [line[2:] for line in block.splitlines() if int(line[0]) <= length]
        if told:
            paragraphs.append(" ".join(capital(expand(rng, line, slots)) for line in told))
    return (" " if length is Length.SHORT else "\n").join(paragraphs)
