from __future__ import annotations

import math

import pytest

from engine.blocks import BlockPool
from engine.door import refusal
from engine.request import Request, SamplingParams
from tests.builders import ask


def refuse(request: Request, num_blocks: int = 8, reserve_tokens: int = 0) -> str | None:
    """What a cache of `num_blocks` x 4 tokens and a context of 32 say to the request."""
    return refusal(request, BlockPool(num_blocks, 4, reserve_tokens), 32, vocab_size=50)


def test_what_just_fits_is_let_in():
    assert refuse(ask(num_prompt_tokens=31, max_tokens=1)) is None
    assert refuse(ask(num_prompt_tokens=1, max_tokens=31)) is None
    assert refuse(Request("r0", (0, 49), SamplingParams(max_tokens=1))) is None


def test_a_context_one_token_too_long_is_refused_with_the_numbers():
    message = "30 prompt + 3 output tokens exceed the context of 32"
    assert refuse(ask(num_prompt_tokens=30, max_tokens=3)) == message


def test_what_could_never_fit_the_cache_is_refused_with_the_numbers():
    message = "10 prompt + 3 output tokens need 4 KV blocks; the cache has 3"
    assert refuse(ask(num_prompt_tokens=10, max_tokens=3), num_blocks=3) == message
    assert refuse(ask(num_prompt_tokens=10, max_tokens=2), num_blocks=3) is None


def test_a_reserve_larger_than_the_cache_is_named_as_the_reason():
    message = "1 prompt + 1 output tokens with 32 reserved need 8 KV blocks; the cache has 7"
    assert refuse(ask("r0", 1, 1), num_blocks=7, reserve_tokens=32) == message


def test_an_empty_prompt_is_refused():
    assert refuse(ask(num_prompt_tokens=0)) == "the prompt is empty"


@pytest.mark.parametrize("token_id", [-1, 50, 10**9])
def test_an_id_outside_the_vocabulary_is_refused(token_id: int):
    message = f"token id {token_id} is outside the vocabulary of 50"
    assert refuse(Request("r0", (1, token_id, 2))) == message


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"max_tokens": 0}, "max_tokens must be at least 1, got 0"),
        ({"max_tokens": -1}, "max_tokens must be at least 1, got -1"),
        ({"temperature": -1.0}, "temperature must be a finite number of at least 0, got -1.0"),
        ({"temperature": math.nan}, "temperature must be a finite number of at least 0, got nan"),
    ],
)
def test_wrong_sampling_values_are_refused_each_with_its_message(values, word):
    assert refuse(Request("r0", (1,), SamplingParams(**values))) == word
