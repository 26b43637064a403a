"""A pass launched before the last result was taken finds its tokens on the device."""

from __future__ import annotations

import pytest

from engine.plan import RunnerError
from engine.request import PENDING
from tests.runners.builders import make_model, make_runner
from tests.runners.fake_capture import FakeCapture
from tests.runners.overlapping import LENGTHS, decode, make_seqs, settle, step


@pytest.mark.parametrize("sampling", [{}, {"temperature": 0.9, "top_p": 0.9}], ids=str)
@pytest.mark.parametrize("most", [99, 4], ids=["whole prompts", "chunks"])
def test_tokens_are_those_of_steps_that_wait(sampling, most):
    waiting = decode(make_seqs(**sampling), is_overlapping=False, most=most)

    assert decode(make_seqs(**sampling), is_overlapping=True, most=most) == waiting
    assert all(token_id != PENDING for tokens in waiting for token_id in tokens)


@pytest.mark.parametrize("sampling", [{}, {"temperature": 0.9, "top_p": 0.9}], ids=str)
def test_a_graph_takes_over_what_the_pass_before_sampled(sampling):
    waiting = decode(make_seqs(**sampling), is_overlapping=False)
    capture = FakeCapture()

    assert decode(make_seqs(**sampling), is_overlapping=True, capture=capture) == waiting
    assert capture.num_replays == 9


def test_a_row_takes_its_own_token_wherever_it_lies_in_the_next_pass():
    expected = decode(make_seqs(), is_overlapping=False)
    seqs, runner = make_seqs(), make_runner(make_model("llama"))
    first = step(runner, seqs)

    later, _ = step(runner, seqs[::-1])
    settle(*first)

    at_second = [tokens[length + 1] for tokens, length in zip(expected, LENGTHS, strict=True)]
    assert later.result() == at_second[::-1]


def test_behind_a_pass_that_failed_nothing_is_taken_over():
    seqs = make_seqs()
    runner = make_runner(make_model("llama"))
    step(runner, seqs)
    hook = runner.model.register_forward_pre_hook(_fail)
    with pytest.raises(RunnerError, match="failed: broken"):
        step(runner, seqs)
    hook.remove()

    with pytest.raises(RunnerError, match="is pending that the last pass did not sample"):
        step(runner, seqs)


def _fail(*_: object) -> None:
    raise RuntimeError("broken")
