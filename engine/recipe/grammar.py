"""Small pieces of English: choices, slots, articles, plurals and made-up words."""

import random
import re
from collections.abc import Mapping

from engine.recipe.data import words

Slots = Mapping[str, str]

CHOICE = re.compile(r"\{([^{}]*)\}")
SLOT = re.compile(r"\$([A-Za-z]+)")
SENTENCE_END = re.compile(r"(?<=[.!?]) ")
PLURALS = {
    "mouse": "mice",
    "wolf": "wolves",
    "sheep": "sheep",
    "fish": "fish",
}
PROPER = {"I", "Mount", "China", "Earth", "Rome"}


def expand(rng: random.Random, text: str, slots: Slots | None = None) -> str:
    """Choose one of each `{a|b}` and fill each `$slot`; `$Slot` is filled with a capital."""
    while match := CHOICE.search(text):
        chosen = rng.choice(match.group(1).split("|"))
        text = text[: match.start()] + chosen + text[match.end() :]
    if slots is None:
        return text
    return SLOT.sub(lambda match: _fill(match.group(1), slots), text)


def capital(text: str) -> str:
    """Return the text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def lower(sentence: str) -> str:
    """Return the sentence as it reads after a comma."""
    if sentence.split()[0] in PROPER:
        return sentence
    return sentence[:1].lower() + sentence[1:]


def with_article(noun: str) -> str:
    """Return the noun behind `a` or `an`."""
    has_vowel = noun[0].lower() in "aeiou" and not noun.startswith(("uni", "use", "one"))
    return f"{'an' if has_vowel else 'a'} {noun}"


def without_article(topic: str) -> str:
    """Return the topic without a leading `a`, `an` or `the`."""
    return re.sub(r"^(a|an|the) ", "", topic)


def plural(noun: str) -> str:
    """Return the plural of the noun."""
    if noun in PLURALS:
        return PLURALS[noun]
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


def sentences(text: str) -> list[str]:
    """Split the text after each full stop."""
    return SENTENCE_END.split(text)


def made_up_word(rng: random.Random) -> str:
    """Return a word that sounds like English and means nothing, so that copying is learned."""
    return "".join(_syllable(rng) for _ in range(rng.choice([1, 2, 2, 3])))


def _syllable(rng: random.Random) -> str:
    coda = rng.choice(words("pseudo_codas")) if rng.random() < 0.6 else ""
    return rng.choice(words("pseudo_onsets")) + rng.choice(words("pseudo_vowels")) + coda


def _fill(name: str, slots: Slots) -> str:
    return slots[name] if name in slots else capital(slots[name[0].lower() + name[1:]])
