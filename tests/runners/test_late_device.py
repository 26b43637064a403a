"""The late device shows each fence that is missing."""

from __future__ import annotations

import pytest
import torch

from engine.runners.inputs import fetching, staging
from tests.runners.late_device import POISON, LateDevice

CPU = torch.device("cpu")


@pytest.fixture
def late(monkeypatch):
    with LateDevice(monkeypatch) as device:
        yield device


def make_host(*values: int) -> torch.Tensor:
    host = staging.host_memory(len(values), CPU)
    host[:] = make_bytes(*values)
    return host


def make_bytes(*values: int) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.uint8)


def test_what_comes_to_the_host_is_poison_until_it_has_waited(late):
    host, fence, tokens = make_host(0, 0), fetching.make_fence(CPU), make_bytes(3, 5)
    host.copy_(tokens, non_blocking=True)
    fence.record()
    tokens.fill_(9)  # the next pass does so, after the copy

    assert host.tolist() == [POISON, POISON]
    fence.wait()
    assert host.tolist() == [3, 5]
    assert late.num_waits == 1


def test_a_fence_waits_for_what_it_was_put_behind_and_no_more(late):
    first, second, fence = make_host(0), make_host(0), fetching.make_fence(CPU)
    fence.wait()
    first.copy_(make_bytes(3), non_blocking=True)
    fence.record()
    second.copy_(make_bytes(5), non_blocking=True)

    fence.wait()
    fence.wait()

    assert (first.item(), second.item()) == (3, POISON)
    assert late.num_waits == 1
    late.finish()
    assert second.item() == 5


def test_what_the_host_writes_over_while_it_is_under_way_is_noticed(late):
    host, memory = make_host(3, 5), make_bytes(0, 0)
    memory.copy_(host, non_blocking=True)
    host[1] = 6

    assert memory.tolist() == [3, 5]
    with pytest.raises(RuntimeError, match="wrote over what the device had still to read"):
        late.finish()


def test_what_the_host_writes_once_the_device_is_done_is_its_own_affair(late):
    host, memory = make_host(3, 5), make_bytes(0, 0)
    memory.copy_(host, non_blocking=True)
    late.advance()
    host[1] = 6

    late.finish()

    assert (late.num_given, late.num_done, late.num_waits) == (1, 1, 0)


def test_memory_given_back_while_it_is_under_way_is_noticed(late):
    make_bytes(0, 0).copy_(make_host(3, 5), non_blocking=True)

    with pytest.raises(RuntimeError, match="gave back what the device had still to read"):
        late.finish()


def test_a_copy_that_blocks_waits_for_all_before_it(late):
    first, second = make_host(0), make_host(0)
    first.copy_(make_bytes(3), non_blocking=True)

    second.copy_(make_bytes(5))

    assert (first.item(), second.item(), late.num_waits) == (3, 5, 1)


def test_copies_on_one_side_are_no_matter_of_the_device(late):
    make_host(0).copy_(make_host(1))
    make_bytes(0).copy_(make_bytes(1))

    assert late.num_given == 0
