"""Devices and precisions by name."""

from __future__ import annotations

import psutil
import pytest
import torch

from engine.config import ConfigError
from engine.runners.device import (
    choose_device,
    choose_dtype,
    describe_device,
    device_uuid,
    free_memory,
)

CPU = torch.device("cpu")
needs_no_cuda = pytest.mark.skipif(torch.cuda.is_available(), reason="a CUDA device is there")


def test_the_cpu_can_always_be_had():
    assert choose_device("cpu") == CPU
    assert describe_device(CPU) == "cpu"
    assert device_uuid(CPU) == ""


@needs_no_cuda
def test_auto_takes_what_there_is():
    assert choose_device("auto").type in ("cpu", "mps")


@needs_no_cuda
def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(ConfigError, match="torch finds no cuda device here; 'auto' takes"):
        choose_device("cuda:1")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gpu", "unknown device 'gpu'; did you mean 'cpu'?"),
        ("cpu:x", "unknown device 'cpu:x'; a number follows, as in 'cuda:0'"),
    ],
)
def test_an_unknown_device_is_refused(name, message):
    with pytest.raises(ConfigError) as caught:
        choose_device(name)

    assert str(caught.value) == message


def test_the_precision_suits_the_device_unless_it_is_named():
    assert choose_dtype("auto", CPU) is torch.float32
    assert choose_dtype("auto", torch.device("cuda")) is torch.bfloat16
    assert choose_dtype("float16", CPU) is torch.float16


def test_an_unknown_precision_is_refused():
    with pytest.raises(ConfigError) as caught:
        choose_dtype("bfloat", CPU)

    assert str(caught.value) == "unknown dtype 'bfloat'; did you mean 'bfloat16'?"


def test_a_cpus_free_memory_is_that_of_the_machine():
    assert 0 < free_memory(CPU) <= psutil.virtual_memory().total
