"""What becomes of a name that only the hub may know."""

from __future__ import annotations

import pytest

from engine.config import ConfigError
from engine.runners.loading.hub import UnreachableError, reach
from engine.runners.loading.sources import Source

QWEN = Source("Qwen/Qwen3-0.6B")


def nobody(name):
    raise UnreachableError("Name or service not known")


def test_a_model_that_the_hub_has_is_loaded_from_there():
    assert reach(QWEN, ask=lambda name: 200) == QWEN


def test_a_model_in_the_cache_is_read_there_if_nobody_answers():
    found = reach(QWEN, nobody, is_cached=lambda name: name == "Qwen/Qwen3-0.6B")
    assert found == Source("Qwen/Qwen3-0.6B", {"local_files_only": True})


def test_a_folder_is_no_business_of_the_hub():
    source = Source("/models/mine", {"local_files_only": True})
    assert reach(source, nobody) is source


@pytest.mark.parametrize("status", [401, 404])
def test_a_name_that_the_hub_does_not_know_is_refused_with_what_is_known_here(status):
    with pytest.raises(ConfigError) as caught:
        reach(Source("nonsense"), ask=lambda name: status)
    assert str(caught.value) == (
        "the Hugging Face hub has no model 'nonsense', or one that needs a login. "
        "Known here: tiny, smollm2; a folder of a model's files will do too."
    )


def test_without_a_hub_and_without_a_cache_both_are_said():
    with pytest.raises(ConfigError) as caught:
        reach(Source("nonsense"), nobody, is_cached=lambda name: False)
    assert str(caught.value) == (
        "there is no model 'nonsense' here, and the Hugging Face hub cannot be reached "
        "(Name or service not known). "
        "Known here: tiny, smollm2; a folder of a model's files will do too."
    )


def test_a_gated_model_says_what_to_do():
    with pytest.raises(ConfigError, match="accept its terms on the hub and log in"):
        reach(QWEN, ask=lambda name: 403)
