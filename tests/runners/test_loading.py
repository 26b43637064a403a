"""Models by name: loaded quietly, with their ends and limits, or refused with the reason."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.config import ConfigError
from engine.runners.loading.load import DummyTokenizer, LoadedModel, load_model
from engine.runners.loading.sources import find_source
from engine.tokenizer import HfTokenizer
from tests.runners.builders import make_model

CPU = torch.device("cpu")


def load(name: str | Path, load_format: str = "auto") -> LoadedModel:
    return load_model(str(name), CPU, torch.float32, load_format)


def save(folder: Path, **config: Any) -> Path:
    model = make_model("llama")
    for key, value in config.items():
        setattr(model.config, key, value)
    model.generation_config.eos_token_id = None
    model.save_pretrained(folder)
    return folder


def test_the_shipped_model_comes_with_its_tokenizer_ends_and_limit():
    loaded = load("tiny")

    assert (loaded.num_params, loaded.num_lookup_params) == (3_475_712, 0)
    assert loaded.max_model_len == 8192
    assert loaded.model.dtype is torch.float32
    assert isinstance(loaded.tokenizer, HfTokenizer)
    assert loaded.tokenizer.eos_token_ids == {2}
    assert loaded.tokenizer.vocab_size == 2048


def test_loading_writes_nothing_to_the_terminal(capfd):
    load("tiny")

    assert capfd.readouterr() == ("", "")


def test_dummy_weights_are_the_same_every_time_and_not_the_models_own():
    torch.manual_seed(99)
    state = torch.get_rng_state()

    first, second, real = load("tiny", "dummy"), load("tiny", "dummy"), load("tiny")

    weights = [loaded.model.get_input_embeddings().weight for loaded in (first, second, real)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
    assert torch.equal(torch.get_rng_state(), state)


def test_a_dummy_without_a_tokenizer_gets_filler_within_its_vocabulary(tmp_path):
    loaded = load(save(tmp_path, eos_token_id=5), "dummy")

    assert isinstance(loaded.tokenizer, DummyTokenizer)
    assert loaded.tokenizer.vocab_size == 131
    assert loaded.tokenizer.eos_token_ids == {5}
    ids = loaded.tokenizer.encode_chat("some words that it has never seen")
    assert len(ids) == 7
    assert max(ids) < 131
    assert loaded.tokenizer.decode(range(131)).split()[:2] == ["the", "a"]


def test_a_model_without_a_tokenizer_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"cannot load the model '.*': "):
        load(save(tmp_path))


def test_ids_beyond_the_embeddings_are_no_part_of_the_vocabulary(tmp_path):
    source = Path(find_source("tiny").place)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(source / name, tmp_path)

    assert load(save(tmp_path)).tokenizer.vocab_size == 131


@pytest.mark.parametrize(("eos", "expected"), [(7, {7}), ([3, 4], {3, 4}), (None, set())])
def test_ends_may_be_one_several_or_none(tmp_path, eos, expected):
    assert load(save(tmp_path, eos_token_id=eos), "dummy").tokenizer.eos_token_ids == expected


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nobody/has-this", "there is no model 'nobody/has-this' here"),
        ("tiniy", "there is no model 'tiniy'; did you mean 'tiny'?"),
    ],
)
def test_a_model_that_is_not_there_is_refused(name, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        load(name)


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=re.escape(f"cannot load the model {str(tmp_path)!r}: ")):
        load(tmp_path)


def test_damaged_weights_are_refused(tmp_path):
    save(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"not weights")

    with pytest.raises(ConfigError, match="cannot load the model"):
        load(tmp_path)


def test_an_unknown_load_format_is_refused():
    with pytest.raises(ConfigError) as caught:
        load("tiny", "dumy")

    assert str(caught.value) == "unknown load format 'dumy'; did you mean 'dummy'?"


def test_the_embedding_is_looked_up_in_unless_it_is_the_head_too(tmp_path: Path):
    untied = load(str(save(tmp_path / "untied")), "dummy")
    tied = load(str(save(tmp_path / "tied", tie_word_embeddings=True)), "dummy")

    assert untied.num_lookup_params == untied.num_params - tied.num_params == 131 * 32
    assert tied.num_lookup_params == 0
