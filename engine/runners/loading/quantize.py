"""Weights in fewer bits, by torchao: `quantize`.

Weight-only: activations keep their precision. The embedding and the head stay as they are, as
the usual recipes leave them.
"""

from __future__ import annotations

from importlib import import_module

import torch
from transformers import PreTrainedModel

from engine.config import ConfigError, suggest
from engine.runners.loading.extras import require

NONE = "none"
CONFIGS = {"int8": "Int8WeightOnlyConfig"}  # in torchao.quantization
METHODS = (NONE, *CONFIGS)


def check_method(method: str) -> None:
    """See, before a model is loaded, whether its weights can be quantised.

    Raises:
        ConfigError: there is no such method, or torchao is not installed.
    """
    if method not in METHODS:
        raise ConfigError(f"unknown quantization {method!r}; {suggest(method, METHODS)}")
    if method == NONE:
        return
    require("torchao", f"--quantization {method}", extra="int8")


def quantize(model: PreTrainedModel, method: str) -> None:
    """Replace the weights of the linear layers, except the head's."""
    if method == NONE:
        return
    head = model.get_output_embeddings()  # type: ignore[no-untyped-call]

    def is_meant(module: torch.nn.Module, _: str) -> bool:
        return isinstance(module, torch.nn.Linear) and module is not head

    torchao = import_module("torchao.quantization")
    torchao.quantize_(model, getattr(torchao, CONFIGS[method])(), filter_fn=is_meant)
