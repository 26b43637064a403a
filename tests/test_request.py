from __future__ import annotations

import math

import pytest

from engine.request import ALLOWED, Request, SamplingParams, Sequence, Status
from tests.builders import ask


def test_a_fresh_sequence_has_all_of_its_prompt_to_compute():
    seq = Sequence(ask(num_prompt_tokens=5))
    assert (seq.num_tokens, seq.num_uncomputed, seq.num_output_tokens) == (5, 5, 0)
    assert (seq.num_prompt_tokens, seq.slot, seq.block_table) == (5, None, [])
    assert not seq.is_decoding


def test_a_sequence_decodes_once_only_its_newest_output_token_is_left():
    seq = Sequence(ask(num_prompt_tokens=2))
    seq.num_computed = 1
    assert not seq.is_decoding, "the last token of a prompt is prefill, though it is one token"
    seq.token_ids.append(7)
    assert not seq.is_decoding
    seq.num_computed = 2
    assert seq.is_decoding


def test_a_preempted_sequence_prefills_its_output_again():
    seq = Sequence(ask(num_prompt_tokens=2))
    seq.token_ids += [7, 8, 9]
    assert (seq.num_uncomputed, seq.num_output_tokens, seq.is_decoding) == (5, 3, False)


def test_a_sequence_does_not_share_its_tokens_with_its_request():
    request = ask(num_prompt_tokens=2)
    Sequence(request).token_ids.append(7)
    assert request.prompt_token_ids == (1, 1)
    assert Sequence(request).token_ids == [1, 1]


def test_the_longest_context_is_prompt_and_all_of_the_output():
    assert ask(num_prompt_tokens=5, max_tokens=9).max_num_tokens == 14


ROADS = {
    (Status.WAITING, Status.RUNNING),
    (Status.WAITING, Status.FINISHED),
    (Status.RUNNING, Status.PREEMPTED),
    (Status.RUNNING, Status.FINISHED),
    (Status.PREEMPTED, Status.RUNNING),
    (Status.PREEMPTED, Status.FINISHED),
}


@pytest.mark.parametrize("begin", Status)
@pytest.mark.parametrize("end", Status)
def test_a_sequence_takes_only_the_roads_of_the_state_machine(begin: Status, end: Status):
    seq = Sequence(ask())
    seq.status = begin
    if (begin, end) in ROADS:
        seq.move_to(end)
        assert seq.status is end
    else:
        with pytest.raises(ValueError, match=f"r0: no transition {begin.value} -> {end.value}"):
            seq.move_to(end)
        assert seq.status is begin


def test_the_table_of_transitions_knows_every_status():
    assert set(ALLOWED) == set(Status)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"temperature": -0.1}, "temperature must be a finite number of at least 0, got -0.1"),
        ({"temperature": math.nan}, "temperature must be a finite number of at least 0, got nan"),
        ({"temperature": math.inf}, "temperature must be a finite number of at least 0, got inf"),
        ({"top_p": 0.0}, "top_p must be above 0 and at most 1, got 0.0"),
        ({"top_p": 1.1}, "top_p must be above 0 and at most 1, got 1.1"),
        ({"top_p": math.nan}, "top_p must be above 0 and at most 1, got nan"),
        ({"min_p": -0.1}, "min_p must be between 0 and 1, got -0.1"),
        ({"min_p": math.nan}, "min_p must be between 0 and 1, got nan"),
        ({"top_k": -1}, "top_k must be at least 0 (0 keeps all), got -1"),
        ({"max_tokens": 0}, "max_tokens must be at least 1, got 0"),
        ({"max_tokens": -3}, "max_tokens must be at least 1, got -3"),
        ({"min_tokens": -1}, "min_tokens must be 0 to max_tokens (64), got -1"),
        ({"min_tokens": 65}, "min_tokens must be 0 to max_tokens (64), got 65"),
        ({"stop": ("end", "")}, "a stop string must not be empty"),
    ],
)
def test_a_wrong_sampling_value_is_named_with_what_would_be_right(values, message):
    assert SamplingParams(**values).problem() == message


def test_the_edges_of_what_is_allowed_have_no_problem():
    edges = SamplingParams(temperature=0.0, top_k=0, top_p=1.0, min_p=1.0, max_tokens=1)
    assert edges.problem() is None
    assert SamplingParams(max_tokens=5, min_tokens=5, stop=("end",)).problem() is None


def test_requests_are_values():
    assert ask("a") == ask("a")
    assert len({ask("a"), ask("a"), ask("b")}) == 2
    with pytest.raises(AttributeError):
        Request("a", (1,)).id = "b"  # type: ignore[misc]
