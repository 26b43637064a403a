"""A pass launched before the last result was taken finds its tokens on the device."""

from __future__ import annotations

from random import Random

import pytest

from engine.plan import RunnerError
from engine.request import PENDING
from tests.runners.builders import make_model, make_requests, make_runner, make_torch_core, serve
from tests.runners.fake_capture import FakeCapture
from tests.runners.late_device import LateDevice
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


@pytest.fixture
def late(monkeypatch):
    with LateDevice(monkeypatch) as device:
        yield device


@pytest.mark.parametrize("has_graphs", [False, True], ids=["eager", "graphs"])
def test_a_device_that_is_late_gives_the_same_tokens(monkeypatch, has_graphs):
    waiting = decode(make_seqs(), is_overlapping=False)
    capture = FakeCapture() if has_graphs else None

    with LateDevice(monkeypatch) as late:
        assert decode(make_seqs(), is_overlapping=True, capture=capture) == waiting
        late.finish()
    # Once for the tokens of each pass, and once for the inputs that the graph was recorded with.
    assert late.num_waits == 10 + has_graphs


@pytest.mark.parametrize("seed", range(2))
def test_a_device_that_comes_along_at_times_gives_the_same_tokens(monkeypatch, seed):
    knobs = {"async_scheduling": True, "num_kv_blocks": 12}
    expected = serve(make_torch_core("llama", **knobs), make_requests())
    rng = Random(seed)

    with LateDevice(monkeypatch) as late:
        core = make_torch_core("llama", FakeCapture(), **knobs)
        launch = core.runner.launch

        def come_along(plan):
            late.advance(rng.randrange(4))
            return launch(plan)

        monkeypatch.setattr(core.runner, "launch", come_along)
        assert serve(core, make_requests()) == expected
        late.finish()
    assert late.num_given > 50


def test_a_pass_is_launched_without_waiting_for_the_one_under_way(late):
    seqs, runner = make_seqs(), make_runner(make_model("llama"))

    first = step(runner, seqs)
    second = step(runner, seqs)

    assert (late.num_waits, late.num_done) == (0, 0)
    settle(*first)
    settle(*second)
    assert late.num_waits == 2


def test_passes_whose_tokens_nobody_waits_for_leave_their_inputs_to_the_device(late):
    runner = make_runner(make_model("llama"))

    runner.rehearse()

    assert late.num_given == 3
    late.finish()


def _fail(*_: object) -> None:
    raise RuntimeError("broken")
