"""A pass goes over in one copy, from one of two buffers in turn."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
import torch
from torch.overrides import TorchFunctionMode

from engine.runners.inputs.fetching import Fetcher
from engine.runners.inputs.fields import Shape, num_bytes
from engine.runners.inputs.staging import Staging
from tests.runners.late_device import LateDevice


class Copies(TorchFunctionMode):
    """Notes whether each copy into a tensor was to block."""

    def __init__(self) -> None:
        super().__init__()
        self.blocking: list[bool] = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is torch.Tensor.copy_:
            self.blocking.append(not (kwargs or {}).get("non_blocking", False))
        return function(*args, **(kwargs or {}))


CPU = torch.device("cpu")
SHAPE = Shape(num_tokens=3, num_samples=2, num_ruled_out=1, num_blocks=4)


def test_every_field_arrives_as_it_was_written():
    staging = Staging(CPU)
    host = staging.open(SHAPE)
    for seed, name in enumerate(host.__slots__):
        field = getattr(host, name)
        field[...] = np.arange(field.size).reshape(field.shape) + 10 * seed

    fields = staging.send(SHAPE)

    for seed, name in enumerate(host.__slots__):
        field = getattr(fields, name)
        expected = torch.arange(field.numel()).reshape(field.shape) + 10 * seed
        assert field.dtype in (torch.int64, torch.int32, torch.float32)
        assert torch.equal(field.long(), expected)
    assert fields.block_tables.shape == (3, 4)


def test_a_pass_that_was_sent_is_not_overwritten_while_the_next_one_is_prepared():
    staging = Staging(CPU)
    staging.open(SHAPE).token_ids[:] = 7
    sent = staging.send(SHAPE)

    staging.open(SHAPE).token_ids[:] = 8

    assert sent.token_ids.tolist() == [7, 7, 7]


def test_the_device_finds_the_inputs_of_one_shape_always_in_the_same_place():
    staging = Staging(CPU, num_bytes(SHAPE))
    staging.open(SHAPE)
    first = staging.send(SHAPE)
    staging.open(SHAPE)

    assert staging.send(SHAPE) is first


def test_a_pass_of_any_size_finds_room():
    staging, shape = Staging(CPU), Shape(100_000, 2)
    staging.open(shape).positions[-1] = 5

    assert staging.send(shape).positions[-1] == 5


def test_nothing_is_still_under_way_after_a_copy_where_no_fence_would_tell():
    staging, fetcher = Staging(CPU), Fetcher(CPU)
    staging.open(SHAPE)
    with Copies() as copies:
        staging.send(SHAPE)
        fetcher.fetch(torch.tensor([3, 1]))

    assert copies.blocking == [True, True]


@pytest.fixture
def late(monkeypatch):
    with LateDevice(monkeypatch) as device:
        yield device


def send(staging: Staging, number: int) -> None:
    staging.open(SHAPE).token_ids[:] = number
    staging.send(SHAPE)


def test_two_passes_are_prepared_without_waiting_for_the_device(late):
    staging = Staging(CPU)

    send(staging, 1)
    send(staging, 2)

    assert (late.num_waits, late.num_done) == (0, 0)


def test_a_buffer_is_written_again_once_the_device_has_read_it_and_no_later(late):
    staging = Staging(CPU)
    for number in range(5):
        send(staging, number)

    assert (late.num_waits, late.num_done) == (3, 3)
    late.finish()  # notices what was written over


@pytest.mark.parametrize("seed", range(20))
def test_however_far_the_device_has_come_it_reads_what_was_sent(late, seed):
    rng, staging = Random(seed), Staging(CPU)
    for number in range(12):
        late.advance(rng.randrange(3))
        send(staging, number)

    late.finish()


def test_memory_that_the_device_still_reads_is_not_given_back_for_larger(late):
    staging = Staging(CPU)
    send(staging, 1)
    send(staging, 2)

    staging.open(Shape(100_000, 2))

    late.finish()
