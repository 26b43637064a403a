"""`trying`: run a few tokens through a model and take down what its modules were given and gave."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from transformers import AttentionInterface, PreTrainedModel

from engine.runners.attention.attend import AttentionOptions, attend_causal

NUM_TOKENS = 7
STRIDE = 7919  # a prime, so that the tokens are all over the vocabulary
ATTENTION = "batchscope_trial"  # one name for every trial: transformers never forgets one
OPTIONS = ("scaling", "sliding_window", "softcap")
TRIAL_ERRORS = (RuntimeError, ValueError, TypeError, AttributeError, LookupError)


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a module.

    Attributes:
        output: a tensor, of modules that are of interest here.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    output: Any

    @property
    def hidden(self) -> torch.Tensor:
        """What the module was given to work on."""
        hidden: torch.Tensor = self.args[0] if self.args else self.kwargs["hidden_states"]
        return hidden


@dataclass(frozen=True, slots=True)
class Trial:
    """What was taken down.

    Attributes:
        calls: the last of each module.
        options: what each attention module handed on beside tensors.
    """

    calls: dict[torch.nn.Module, Call]
    options: dict[torch.nn.Module, dict[str, Any]]


@contextmanager
def trying(model: PreTrainedModel) -> Iterator[Trial]:
    """Run the model, and keep its attention as it was in the run until the block ends.

    Raises:
        TRIAL_ERRORS: the model cannot be run.
    """
    trial = Trial({}, {})

    def attend(
        module: torch.nn.Module,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        attention_mask: torch.Tensor | None,
        **kwargs: Any,
    ) -> tuple[torch.Tensor, None]:
        trial.options[module] = {name: kwargs[name] for name in OPTIONS if name in kwargs}
        output = attend_causal(query, key, value, AttentionOptions(kwargs.get("scaling")))
        return output.transpose(1, 2), None

    before = model.config._attn_implementation
    AttentionInterface.register(ATTENTION, attend)
    model.set_attn_implementation(ATTENTION)
    try:
        _run(model, trial.calls)
        yield trial
    finally:
        model.set_attn_implementation(before)


def _run(model: PreTrainedModel, calls: dict[torch.nn.Module, Call]) -> None:
    """Run a few tokens through the model and take down every module's call."""

    def note(
        module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any
    ) -> None:
        calls[module] = Call(args, kwargs, output)

    hooks = [part.register_forward_hook(note, with_kwargs=True) for part in model.modules()]
    positions = torch.arange(NUM_TOKENS, device=model.device)[None]
    ids = positions * STRIDE % model.config.get_text_config().vocab_size
    try:
        model(input_ids=ids, position_ids=positions, use_cache=False)
    finally:
        for hook in hooks:
            hook.remove()
