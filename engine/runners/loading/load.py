"""Load a model with its tokenizer: `load_model`. Quiet, for the terminal belongs to the screen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from safetensors import SafetensorError
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedConfig, PreTrainedModel
from transformers.distributed.configuration_utils import DistributedConfig
from transformers.utils import logging

from engine.config import ConfigError
from engine.loading import LoadStage, LoadStep, Report, report_nowhere
from engine.runners.first_line import first_line
from engine.runners.loading.hub import reach
from engine.runners.loading.load_progress import counting_tensors
from engine.runners.loading.shares import check_shares
from engine.runners.loading.sources import Source, find_source
from engine.runners.parts import check_load_format
from engine.tokenizer import Tokenizer, ToyTokenizer, load_tokenizer

LOAD_ERRORS = (OSError, ValueError, ImportError, RuntimeError, SafetensorError)
DUMMY_SEED = 0
UNNAMED_LIMIT = 8192  # tokens of a sequence, for a model that does not say how many


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model on its device, ready to run.

    Attributes:
        max_model_len: tokens of a sequence at most, prompt and output together.
        num_params: weights, shared ones counted once.
        num_lookup_params: those of the embedding, unless the head shares them.
    """

    model: PreTrainedModel
    tokenizer: Tokenizer
    max_model_len: int
    num_params: int
    num_lookup_params: int


class DummyTokenizer:
    """Filler for a model that comes without a tokenizer: any of its ids is a word of a few."""

    def __init__(self, vocab_size: int, eos_token_ids: frozenset[int]) -> None:
        self.vocab_size = vocab_size
        self.eos_token_ids = eos_token_ids
        self._words = ToyTokenizer()

    def encode(self, text: str) -> list[int]:
        return [token_id % self.vocab_size for token_id in self._words.encode(text)]

    def encode_chat(self, prompt: str) -> list[int]:
        return self.encode(prompt)

    def decode(self, token_ids: Iterable[int]) -> str:
        return self._words.decode(token_ids)


def load_model(
    name: str,
    device: torch.device,
    dtype: torch.dtype,
    load_format: str = "auto",
    report: Report = report_nowhere,
    *,
    is_sharded: bool = False,
) -> LoadedModel:
    """Load by name: see `find_source`.

    Args:
        load_format: `dummy` takes seeded random weights in place of the model's own.
        report: told how far it is.
        is_sharded: load this rank's share of the weights alone.

    Raises:
        ConfigError: there is no such model, or it cannot be loaded.
    """
    check_load_format(load_format)
    if is_sharded and load_format == "dummy":
        raise ConfigError("random weights cannot be sharded; name a model that has its own")
    report(LoadStep(LoadStage.FIND))
    source = reach(find_source(name))
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        report(LoadStep(LoadStage.WEIGHTS))
        with counting_tensors(report, is_gguf="gguf_file" in source.options):
            is_dummy = load_format == "dummy"
            return _load(source, device, dtype, is_dummy=is_dummy, is_sharded=is_sharded)
    except LOAD_ERRORS as error:
        raise ConfigError(f"cannot load the model {name!r}: {first_line(error)}") from error


def _load(
    source: Source, device: torch.device, dtype: torch.dtype, *, is_dummy: bool, is_sharded: bool
) -> LoadedModel:
    config = AutoConfig.from_pretrained(source.place, **source.options)
    sharing = {}
    if is_sharded:
        text_config = config.get_text_config()
        num_heads = getattr(text_config, "num_key_value_heads", text_config.num_attention_heads)
        check_shares(num_heads, torch.distributed.get_world_size())
        sharing = {"distributed_config": DistributedConfig(tp_plan="auto")}
    if is_dummy:
        model = _randomise(config, device, dtype)
    else:
        model = AutoModelForCausalLM.from_pretrained(
            source.place, dtype=dtype, **sharing, **source.options
        )
    torch.nn.Module.to(model, device)
    model.train(False)
    text_config = model.config.get_text_config()
    eos_token_ids = _eos_token_ids(model)
    try:
        tokenizer: Tokenizer = load_tokenizer(source.place, eos_token_ids, **source.options)
    except (OSError, ValueError):
        if not is_dummy:
            raise
        tokenizer = DummyTokenizer(text_config.vocab_size, eos_token_ids)
    tokenizer.vocab_size = min(tokenizer.vocab_size, text_config.vocab_size)
    max_model_len = getattr(text_config, "max_position_embeddings", None) or UNNAMED_LIMIT
    num_params = sum(parameter.numel() for parameter in model.parameters())
    return LoadedModel(model, tokenizer, max_model_len, num_params, _num_lookup_params(model))


def _num_lookup_params(model: PreTrainedModel) -> int:
    embedding = model.get_input_embeddings()
    head = model.get_output_embeddings()  # type: ignore[no-untyped-call]
    assert isinstance(embedding.weight, torch.Tensor)
    is_shared = head is not None and head.weight is embedding.weight
    return 0 if is_shared else embedding.weight.numel()


def _randomise(
    config: PreTrainedConfig, device: torch.device, dtype: torch.dtype
) -> PreTrainedModel:
    """The architecture with weights from a seed, the same in every process."""
    with torch.random.fork_rng(), torch.device(device):
        torch.manual_seed(DUMMY_SEED)
        model: PreTrainedModel = AutoModelForCausalLM.from_config(  # type: ignore[no-untyped-call]
            config, dtype=dtype
        )
    return model


def _eos_token_ids(model: PreTrainedModel) -> frozenset[int]:
    """Every id that ends an output, from the generation settings or else the configuration."""
    for config in (model.generation_config, model.config.get_text_config()):
        found = getattr(config, "eos_token_id", None)
        if found is not None:
            return frozenset(found if isinstance(found, list) else [found])
    return frozenset()
