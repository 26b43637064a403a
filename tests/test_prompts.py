from importlib.resources import files

import numpy as np
import pytest

from engine.prompts import Corpus, PromptMaker, load_questions
from engine.tokenizer import ToyTokenizer, load_tokenizer

LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 16, 32, 64, 512, 4096, 30_000]


def tiny_tokenizer():
    return load_tokenizer(str(files("engine") / "models" / "tiny"), frozenset({2}))


@pytest.fixture(params=[ToyTokenizer, tiny_tokenizer], ids=["toy", "tiny"])
def tokenizer(request):
    return request.param()


@pytest.mark.parametrize("num_tokens", LENGTHS)
def test_a_prompt_has_exactly_the_length_asked_for(tokenizer, num_tokens):
    prompts, rng = PromptMaker(tokenizer), np.random.default_rng(1)
    assert [len(prompts.make(num_tokens, rng)) for _ in range(20)] == [num_tokens] * 20


def test_a_length_below_one_is_refused(tokenizer):
    with pytest.raises(ValueError, match="at least 1, got 0"):
        PromptMaker(tokenizer).make(0, np.random.default_rng(1))


def test_the_same_random_numbers_give_the_same_prompt(tokenizer):
    one = PromptMaker(tokenizer).make(100, np.random.default_rng(3))
    assert one == PromptMaker(tokenizer).make(100, np.random.default_rng(3))


def test_a_long_prompt_is_filler_a_blank_line_and_a_question_in_the_chat_template():
    tokenizer = tiny_tokenizer()
    prompt = PromptMaker(tokenizer).make(200, np.random.default_rng(5))
    head, tail = tokenizer.encode_chat("x")[:2], tokenizer.encode_chat("x")[-1:]
    filler, _, question = tokenizer.decode(prompt).rpartition("\n\n")
    assert list(prompt[:2]) == head
    assert list(prompt[-1:]) == tail
    assert question in {each.text for each in load_questions()}
    assert filler[:20] in (files("engine") / "models" / "corpus.txt").read_text("utf-8")


def test_a_short_prompt_is_a_question_that_fits():
    tokenizer = tiny_tokenizer()
    prompts, rng = PromptMaker(tokenizer), np.random.default_rng(2)
    asked = {tokenizer.decode(prompts.make(5, rng)) for _ in range(30)}
    assert asked <= {each.text for each in load_questions()}


def test_chat_is_the_chat_template(tokenizer):
    assert list(PromptMaker(tokenizer).chat("Hello!")) == tokenizer.encode_chat("Hello!")


def test_a_corpus_begins_again_at_its_end():
    corpus = Corpus.of([[1, 2], [3], [4, 5]])
    assert corpus.starts == (0, 3)
    assert corpus.cut(3, 6) == (4, 5, 1, 2, 3, 4)


def test_questions_know_how_long_their_answers_are():
    story = load_questions()[-1]
    assert story.text == "Write a long story about a robot and a violin."
    assert sorted(story.answer_tokens) == list(story.answer_tokens)
    assert len(load_questions()) > 40
