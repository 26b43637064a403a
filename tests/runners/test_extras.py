"""What an option needs that is not there, and what would bring it."""

from __future__ import annotations

import pytest

from engine.config import ConfigError
from engine.runners.loading.extras import require


def test_a_module_that_is_not_there_is_named_with_the_extra_that_brings_it():
    with pytest.raises(ConfigError) as error:
        require("no_such_module", "--quantization int8", extra="int8")
    told = '--quantization int8 needs no_such_module: pip install -e ".[int8]"'
    assert str(error.value) == told


def test_a_module_that_is_there_is_enough():
    require("torch", "--quantization int8", extra="int8")
