"""The people of a story: a hero, a helper and a guest, with everything a plot may ask for.

A plot sees them as slots: `$name`, `$kind`, `$he` for the hero, the same words behind `f` for the
helper (`$fname`) and behind `g` for the guest (`$gkind`).
"""

import random
from dataclasses import dataclass

from engine.recipe.data import phrases, words
from engine.recipe.grammar import with_article

FEMALE = {"girl", "queen", "princess", "hen", "mermaid", "fairy", "grandmother", "witch"}
MALE = {"boy", "king", "prince", "knight", "fisherman", "postman", "grandfather"}
CHILDREN = {"girl", "boy"}


@dataclass(frozen=True, slots=True)
class Person:
    """One who acts in a story.

    Attributes:
        kind: A fox, a baker, a robot.
        adjective: The word before the kind at the first mention.
    """

    kind: str
    name: str
    adjective: str
    is_female: bool

    def slots(self, prefix: str = "") -> dict[str, str]:
        """Return the words for this person under names that begin with the prefix."""
        he, him, his = ("she", "her", "her") if self.is_female else ("he", "him", "his")
        forms = {
            "kind": self.kind,
            "name": self.name,
            "adj": self.adjective,
            "akind": with_article(f"{self.adjective} {self.kind}"),
            "he": he,
            "him": him,
            "his": his,
            "himself": f"{him}self",
        }
        return {prefix + key: value for key, value in forms.items()}


def draw_hero(rng: random.Random, kind: str | None = None, name: str | None = None) -> Person:
    """Return a hero of that kind and name, or of any."""
    return _draw_person(rng, kind, name, share=0)


def draw_slots(rng: random.Random, hero: Person, thing: str | None = None) -> dict[str, str]:
    """Draw a helper, a guest, places and things around the hero.

    Args:
        thing: The object that the story is about, if it was asked for.
    """
    helper = _draw_other(rng, {hero.kind}, share=1)
    guest = _draw_guest(rng, {hero.kind, helper.kind})
    thing = thing or rng.choice(words("objects"))
    look = rng.choice(words("looks"))
    first, second, third = rng.sample(phrases("destinations"), 3)
    return {
        **hero.slots(),
        **helper.slots("f"),
        **guest.slots("g"),
        "obj": thing,
        "look": look,
        "aobj": with_article(f"{look} {thing}"),
        "instrument": rng.choice(words("instruments")),
        "place": rng.choice(phrases("places")),
        "time": rng.choice(phrases("times")),
        "spot": rng.choice(phrases("spots")),
        "food": rng.choice(phrases("foods")),
        "skill": rng.choice(phrases("skills")),
        "moral": rng.choice(phrases("morals")),
        "good": rng.choice(phrases("good_feelings")),
        "bad": rng.choice(phrases("bad_feelings")),
        "wa": first,
        "wb": second,
        "wc": third,
    }


def _draw_other(rng: random.Random, taken: set[str], share: int) -> Person:
    person = _draw_person(rng, None, None, share)
    while person.kind in taken:
        person = _draw_person(rng, None, None, share)
    return person


def _draw_guest(rng: random.Random, taken: set[str]) -> Person:
    kinds = [kind for kind in words("animals") if kind not in taken]
    return _draw_person(rng, rng.choice(kinds), None, share=1)


def _draw_person(rng: random.Random, kind: str | None, name: str | None, share: int) -> Person:
    """Draw a person whose name comes from one half of the names.

    Heroes (share 0) and helpers (share 1) never share a name, which lets a small model keep
    them apart.
    """
    kind = kind or _draw_kind(rng)
    is_female = kind in FEMALE or (kind not in MALE and rng.random() < 0.5)
    is_human = kind in CHILDREN or kind in words("folk")
    if not is_human and rng.random() < 0.75:
        names = words("pet_names")
    else:
        names = words("girls") if is_female else words("boys")
    is_grown = kind in words("folk") and rng.random() < 0.5
    adjectives = words("adjectives_of_age") if is_grown else words("adjectives")
    return Person(
        kind=kind,
        name=name or rng.choice(names[share::2]),
        adjective=rng.choice(adjectives),
        is_female=is_female,
    )


def _draw_kind(rng: random.Random) -> str:
    lot = rng.random()
    if lot < 0.24:
        return rng.choice(["girl", "boy"])
    if lot < 0.65:
        return rng.choice(words("animals"))
    return rng.choice(words("folk") if lot < 0.83 else words("wonders"))
