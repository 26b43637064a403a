"""The precision that suits a model: exact where it is small, half the bytes where it is large."""

from __future__ import annotations

import pytest
import torch
from transformers import LlamaConfig

from engine.config import ConfigError
from engine.runners.loading.precision import choose_precision, count_params
from engine.runners.parts import ModelSpec
from tests.runners.builders import SHAPE

CPU = torch.device("cpu")


@pytest.fixture
def large(tmp_path) -> str:
    """A folder with the configuration of a model of 64 million weights."""
    LlamaConfig(**SHAPE | {"vocab_size": 1_000_000}).save_pretrained(tmp_path)
    return str(tmp_path)


def test_the_shipped_model_stays_exact():
    assert choose_precision(ModelSpec(), CPU, is_native=True) is torch.float32


def test_a_large_model_takes_half_the_bytes_where_the_cpu_can(large):
    assert choose_precision(ModelSpec(large), CPU, is_native=True) is torch.bfloat16
    assert choose_precision(ModelSpec(large), CPU, is_native=False) is torch.float32


def test_a_precision_that_is_named_is_taken(large):
    spec = ModelSpec(large, dtype="float32")

    assert choose_precision(spec, CPU, is_native=True) is torch.float32


def test_weights_are_counted_without_loading_any(large):
    assert count_params("tiny") == 3_475_712
    assert count_params(large) > 64_000_000


def test_a_folder_without_a_model_is_left_to_loading(tmp_path):
    assert count_params(str(tmp_path)) == 0


def test_a_name_that_nobody_can_look_up_is_refused_at_once():
    with pytest.raises(ConfigError, match="the Hugging Face hub cannot be reached"):
        count_params("somebody/something")


def test_an_unknown_precision_is_refused():
    with pytest.raises(ConfigError, match="did you mean 'bfloat16'"):
        choose_precision(ModelSpec(dtype="bfloat"), CPU)
