"""The fake capture refuses what a real one refuses, and lets through what a real one holds."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from tests.runners.fake_capture import SYNCHRONIZING, FakeCapture, Recording

STATIC = torch.tensor([3.0, 0.0, 2.0])
HOST = torch.zeros(3)


class HostSide:
    """Knows the one tensor that lies in the host's memory."""

    def __contains__(self, tensor: object) -> bool:
        return tensor is HOST


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
    "to the host by name": (lambda: STATIC.to("cpu"), "to copies to the host"),
    "to the host by device": (lambda: STATIC.to(device=torch.device("cpu")), "to copies to"),
    "cpu": (lambda: STATIC.cpu(), "cpu waits"),
    "into the host's memory": (lambda: HOST.copy_(STATIC * 2), "copy_ copies to the host"),
    "out of the host's memory": (lambda: STATIC.clone().copy_(HOST), "copy_ copies from the host"),
    "text": (lambda: STATIC * len(f"{STATIC}"), "waits for the device"),
    "a number as text": (lambda: STATIC * len(f"{STATIC.sum()}"), "waits for the device"),
    "an error's text": (lambda: STATIC * len(str(STATIC)), "__repr__ waits"),
    "a choice with a number": (lambda: torch.where(STATIC > 1, STATIC, 0.0), "from the host"),
}


@pytest.mark.parametrize(("run", "message"), FORBIDDEN.values(), ids=FORBIDDEN)
def test_what_a_graph_cannot_hold_is_refused(run, message):
    with pytest.raises(RuntimeError, match=message), torch.inference_mode():
        FakeCapture(HostSide()).capture(run)


@pytest.mark.parametrize("module", SYNCHRONIZING, ids=lambda module: module.__name__)
def test_waiting_for_all_of_the_device_is_refused(module):
    with pytest.raises(RuntimeError, match="synchronize waits"), Recording(()):
        module.synchronize()


def test_what_stays_on_the_device_or_on_the_host_is_held():
    other = torch.zeros(3)

    def run() -> torch.Tensor:
        other.copy_(STATIC.to(STATIC.device, torch.float64).to(STATIC))
        return other + torch.ones(3, device=STATIC.device)

    assert FakeCapture(HostSide()).capture(run)().tolist() == [4.0, 1.0, 3.0]


def test_nothing_is_refused_once_the_capture_is_over():
    FakeCapture().capture(lambda: STATIC * 2)()

    torch.cpu.synchronize()
    assert STATIC.to("cpu").tolist() == [3.0, 0.0, 2.0]
    assert STATIC.device == torch.device("cpu")


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
