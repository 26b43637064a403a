"""Waiting for a device while something else is watched, with an event that stands for CUDA's."""

from __future__ import annotations

import pytest
import torch

from engine.plan import RunnerError
from engine.runners.inputs.fences import CudaFence, NoFence, copies_alone, host_memory, make_fence


class Event:
    """Is reached after so many looks; waiting for one that never is would never end."""

    num_looks = 3

    def __init__(self) -> None:
        self.is_recorded = False

    def record(self) -> None:
        self.is_recorded = True

    def query(self) -> bool:
        self.num_looks -= 1
        return self.num_looks <= 0

    def synchronize(self) -> None:
        assert self.num_looks < 10_000, "it is never reached"


@pytest.fixture(autouse=True)
def _no_device(monkeypatch):
    monkeypatch.setattr(torch.cuda, "Event", Event)


def test_others_are_looked_after_as_long_as_the_device_works():
    looks = []
    fence = CudaFence(lambda: looks.append("look"))
    fence.record()
    fence.wait()
    assert looks == ["look", "look"]


def test_what_will_never_come_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(Event, "num_looks", 1_000_000)

    def check() -> None:
        raise RunnerError("rank 1 of 2 has ended")

    with pytest.raises(RunnerError, match="rank 1 of 2"):
        CudaFence(check).wait()


def test_with_nobody_else_to_look_after_the_device_is_waited_for_at_once(monkeypatch):
    monkeypatch.setattr(Event, "query", None)
    CudaFence().wait()


def test_a_device_that_is_done_when_a_call_returns_has_none():
    assert isinstance(make_fence(torch.device("cpu")), NoFence)


@pytest.mark.parametrize(("kind", "is_alone"), [("cuda", True), ("mps", False), ("cpu", False)])
def test_only_cuda_copies_on_its_own_and_has_fences_to_tell(kind, is_alone):
    assert copies_alone(torch.device(kind)) is is_alone
    assert isinstance(make_fence(torch.device(kind)), CudaFence) is is_alone


def test_memory_of_a_device_that_does_not_copy_alone_is_not_pinned():
    assert not host_memory(8, torch.device("mps")).is_pinned()
