import random

import pytest

from engine.recipe.grammar import expand, lower, made_up_word, plural, with_article


def test_a_choice_is_made_and_slots_are_filled():
    assert expand(
        random.Random(0), "{$Name sat|$Name sat} by $wa.", {"name": "mia", "wa": "a"}
    ) == ("Mia sat by a.")


def test_an_unknown_slot_is_an_error():
    with pytest.raises(KeyError):
        expand(random.Random(0), "$nothing", {"name": "Mia"})


@pytest.mark.parametrize(
    ("noun", "expected"), [("owl", "an owl"), ("fox", "a fox"), ("unicorn", "a unicorn")]
)
def test_the_article_fits_the_sound(noun, expected):
    assert with_article(noun) == expected


@pytest.mark.parametrize(
    ("noun", "expected"),
    [("fox", "foxes"), ("library", "libraries"), ("monkey", "monkeys"), ("mouse", "mice")],
)
def test_plurals_are_spelled_well(noun, expected):
    assert plural(noun) == expected


def test_only_proper_nouns_keep_their_capital():
    assert lower("It is cold.") == "it is cold."
    assert lower("I am cold.") == "I am cold."


def test_made_up_words_differ():
    rng = random.Random(0)
    assert len({made_up_word(rng) for _ in range(50)}) > 45
