from __future__ import annotations

from engine.bench.traffic import Traffic
from engine.tokenizer import ToyTokenizer


def test_lengths_lie_between_least_and_most_and_no_output_ends_early():
    traffic = Traffic(num_requests=50, prompt_tokens=(10, 20), output_tokens=(3, 7))
    requests = traffic.draw(ToyTokenizer())
    assert len(requests) == 50
    assert {len(each.prompt_token_ids) for each in requests} <= set(range(10, 21))
    assert {each.sampling.max_tokens for each in requests} == {3, 4, 5, 6, 7}
    assert all(each.sampling.ignore_eos for each in requests)
    assert traffic.longest == 27


def test_the_same_seed_gives_the_same_requests():
    traffic = Traffic(num_requests=5)
    assert traffic.draw(ToyTokenizer()) == traffic.draw(ToyTokenizer())
