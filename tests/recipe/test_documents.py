import random
import re
from itertools import islice

import pytest

from engine.recipe.data import load
from engine.recipe.documents import documents
from engine.recipe.stories import Length, Wish, tell
from engine.recipe.turns import ASSISTANT, BOS, END, USER, Turn, render

NUM_DOCUMENTS = 3000


@pytest.fixture(scope="module")
def corpus():
    return list(islice(documents(1), NUM_DOCUMENTS))


def test_the_same_seed_gives_the_same_documents(corpus):
    assert list(islice(documents(1), 200)) == corpus[:200]
    assert list(islice(documents(2), 200)) != corpus[:200]


def test_each_document_is_prose_or_whole_turns(corpus):
    text = "[^<]+"
    prose = re.escape(BOS) + text + re.escape(END)
    turn = re.escape(USER) + text + re.escape(ASSISTANT) + text + re.escape(END)
    well_formed = re.compile(f"{prose}|{re.escape(BOS)}({turn})+")
    assert [document for document in corpus if not well_formed.fullmatch(document)] == []


def test_no_choice_or_slot_is_left_in_the_text(corpus):
    assert [
        document
        for document in corpus
        if re.search(r"[{}$|]", document.replace("|>", "").replace("<|", ""))
    ] == []


def test_a_long_document_ends_with_its_question_and_answer():
    turn = Turn("What is rain?", "Rain is water.", filler="Once upon a ti")
    assert render([turn]) == (
        "<|bos|><|user|>Once upon a ti\n\nWhat is rain?<|assistant|>Rain is water.<|end|>"
    )


def test_fillers_span_short_and_very_long_prompts(corpus):
    said = [document.split(ASSISTANT)[0] for document in corpus if USER in document]
    sizes = sorted(len(text) for text in said if "\n\n" in text)
    assert len(sizes) > NUM_DOCUMENTS / 50
    assert sizes[0] < 500
    assert sizes[-1] > 12_000


def test_a_question_stands_behind_each_filler_on_its_own_line(corpus):
    for document in corpus:
        said = document.split(ASSISTANT)[0]
        if USER in said and "\n\n" in said:
            question = said.rsplit("\n\n", 1)[1]
            assert 0 < len(question) < 150


def test_answers_repeat_little(corpus):
    stories = [text for text in corpus if len(text) > 400 and "story" in text.split(ASSISTANT)[0]]
    assert len(set(stories)) == len(stories)


def test_there_are_many_plots():
    assert len(load("plots")["plots"]) >= 20


@pytest.mark.parametrize("plot", load("plots")["plots"], ids=lambda plot: plot["title"])
def test_each_plot_line_names_its_level(plot):
    lines = [line for line in plot["lines"].splitlines() if line]
    assert all(re.match(r"[012] \S", line) for line in lines)


def test_a_longer_wish_gets_a_longer_story():
    rng = random.Random(0)
    mean = [sum(len(tell(rng, length)) for _ in range(50)) / 50 for length in Length]
    assert mean == sorted(mean)
    assert mean[Length.VERY_LONG] > 3 * mean[Length.SHORT]


def test_a_story_holds_what_was_asked_for():
    story = tell(random.Random(0), Length.SHORT, Wish(kind="glimmo", name="Pip", thing="kite"))
    assert all(word in story for word in ("glimmo", "Pip", "kite"))
