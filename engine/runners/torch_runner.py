"""`TorchRunner`: runs a causal language model of transformers over a paged KV cache."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature

import torch
from transformers import PreTrainedModel

from engine.plan import Launch, PassTiming, Plan, RunnerError
from engine.runners.attention import PagedAttention
from engine.runners.pack import Packed, pack
from engine.runners.pass_timer import PassTimer
from engine.runners.sampling import sample


class TorchRunner:
    """Packs the rows of a plan into one sequence of tokens, [1, T], and runs the model on it.

    Args:
        attention: what the model calls in every layer; it holds the cache, none to begin with.
        eos_token_ids: of the model; never sampled where an output must not end.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        attention: PagedAttention,
        eos_token_ids: frozenset[int],
    ) -> None:
        self.model = model
        self.attention = attention
        self._device = model.device
        self._eos_token_ids = eos_token_ids
        self._takes_indices = "logits_to_keep" in signature(model.forward).parameters

    def launch(self, plan: Plan) -> Launch:
        with device_failures(plan), torch.inference_mode():
            timer = PassTimer(self._device)
            packed = pack(plan, self.attention.block_size, self.attention.scratch_slot)
            inputs = self._prepare(packed)
            timer.prepared()
            logits = self._forward(inputs)
            timer.called()
            seqs = [row.seq for row in plan.rows if row.samples]
            token_ids = sample(logits, seqs, self._eos_token_ids)
            timer.sampled()
            return Sampled(plan, token_ids, logits.shape[-1], timer)

    def resize(self, num_blocks: int, block_size: int) -> None:
        self.attention.resize(num_blocks, block_size)

    def _prepare(self, packed: Packed) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Ids and positions, [T] each, and where the rows that sample end, [rows]."""
        inputs = [packed.token_ids, packed.positions, packed.write_slots]
        ids, positions, write_slots = torch.tensor(inputs, device=self._device)
        keep = torch.tensor(packed.sample_at, dtype=torch.long, device=self._device)
        self.attention.begin(packed.spans, write_slots)
        return ids, positions, keep

    def _forward(self, inputs: tuple[torch.Tensor, torch.Tensor, torch.Tensor]) -> torch.Tensor:
        """Logits of the rows that sample, [rows, vocabulary], in float32."""
        ids, positions, keep = inputs
        options = {"logits_to_keep": keep} if self._takes_indices else {}
        output = self.model(
            input_ids=ids[None], position_ids=positions[None], use_cache=False, **options
        )
        logits: torch.Tensor = output.logits[0]
        return (logits if self._takes_indices else logits.index_select(0, keep)).float()


class Sampled:
    """A pass whose tokens may still be on their way from the device."""

    mode = ""

    def __init__(
        self, plan: Plan, token_ids: torch.Tensor, vocab_size: int, timer: PassTimer
    ) -> None:
        self._plan = plan
        self._token_ids = token_ids
        self._vocab_size = vocab_size
        self._timer = timer

    @property
    def timing(self) -> PassTiming:
        return self._timer.read()

    def result(self) -> list[int]:
        with device_failures(self._plan):
            token_ids: list[int] = self._token_ids.tolist()
        if any(token_id >= self._vocab_size for token_id in token_ids):
            raise RunnerError("the model's logits are not numbers; try --dtype float32")
        return token_ids


@contextmanager
def device_failures(plan: Plan) -> Iterator[None]:
    """Turn what torch raises in a pass into the engine's own error.

    Raises:
        RunnerError: the device failed or its memory ran out.
    """
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise RunnerError(
            f"out of device memory in a pass of {plan.num_slots} tokens; fewer sequences, a "
            "smaller token budget or fewer KV blocks would leave room"
        ) from error
    except (RuntimeError, IndexError, ValueError) as error:
        raise RunnerError(f"a pass of {plan.num_slots} tokens failed: {error}") from error
