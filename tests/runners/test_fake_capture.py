"""The fake capture refuses what a real one refuses, and lets through what a real one holds."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from tests.runners.fake_capture import FakeCapture

STATIC = torch.tensor([3.0, 0.0, 2.0])

FORBIDDEN: dict[str, tuple[Callable[[], torch.Tensor], str]] = {
    "item": (lambda: STATIC * STATIC.sum().item(), "item waits"),
    "tolist": (lambda: STATIC * len(STATIC.tolist()), "tolist waits"),
    "a branch": (lambda: STATIC if STATIC.any() else STATIC + 1, "waits"),
    "to numpy": (lambda: STATIC + STATIC.numpy()[0], "numpy waits"),
    "nonzero": (lambda: STATIC.nonzero(), "depends on data"),
    "a mask as an index": (lambda: STATIC[STATIC > 1], "depends on data"),
    "repeats in a tensor": (
        lambda: STATIC.repeat_interleave(torch.ones_like(STATIC, dtype=torch.long)),
        "depends on data",
    ),
    "numbers of the host": (lambda: STATIC + torch.tensor([1.0, 2.0, 3.0]), "from the host"),
    "a choice with a number": (lambda: torch.where(STATIC > 1, STATIC, 0.0), "from the host"),
}


@pytest.mark.parametrize(("run", "message"), FORBIDDEN.values(), ids=FORBIDDEN)
def test_what_a_graph_cannot_hold_is_refused(run, message):
    with pytest.raises(RuntimeError, match=message), torch.inference_mode():
        FakeCapture().capture(run)


def test_a_replay_reads_what_the_inputs_hold_now_into_the_same_output():
    source = torch.tensor([1.0, 2.0])
    replay = FakeCapture().capture(lambda: source.cumsum(0) * 2)
    first = replay()
    source.fill_(5.0)

    assert replay() is first
    assert first.tolist() == [10.0, 20.0]


def test_a_number_of_the_host_that_changes_is_noticed():
    factors = iter([1.0, 1.0, 1.0, 2.0])
    replay = FakeCapture().capture(lambda: STATIC * next(factors))

    with pytest.raises(RuntimeError, match="operator 0 was recorded as"):
        replay()


def test_an_input_in_another_place_is_noticed():
    inputs = [STATIC]
    replay = FakeCapture().capture(lambda: inputs[0] * 2)
    inputs[0] = STATIC.clone()

    with pytest.raises(RuntimeError, match="operator 0 was recorded as"):
        replay()


def test_another_order_of_operators_is_noticed():
    orders = iter([False, False, False, True])

    def run() -> torch.Tensor:
        return (STATIC + 1) * 2 if next(orders) else (STATIC * 2) + 1

    with pytest.raises(RuntimeError, match="operator 0 was recorded as"):
        FakeCapture().capture(run)()
