"""Train the model: Muon for the matrices, AdamW for the rest, one pass over fresh documents.

Muon: Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks". The learning
rate is scaled as in Liu et al. 2025, "Muon is scalable for LLM training", section 2.2.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, linear
from transformers import LlamaConfig, LlamaForCausalLM

from engine.recipe import attention
from engine.recipe.documents import documents
from engine.recipe.packing import Batch, pack
from engine.recipe.settings import Settings
from engine.recipe.tokenizer import BOS_ID, END_ID, PAD_ID

VALIDATION_SEED = 999
FINAL_RATE = 0.03
MAX_GRADIENT_NORM = 1.0


@dataclass(frozen=True, slots=True)
class Progress:
    """Where the training stands.

    Attributes:
        loss: Running mean of the weighted loss, in nats per token.
        validation_loss: The same on documents that were not trained on; None between checks.
    """

    step: int
    loss: float
    validation_loss: float | None
    learning_rate: float
    num_tokens: int
    wall_s: float
    cpu_s: float


def new_model(settings: Settings) -> LlamaForCausalLM:
    """Return a model with random weights."""
    torch.manual_seed(settings.seed)
    config = LlamaConfig(
        vocab_size=settings.vocab_size,
        hidden_size=settings.hidden_size,
        intermediate_size=settings.intermediate_size,
        num_hidden_layers=settings.num_layers,
        num_attention_heads=settings.num_heads,
        num_key_value_heads=settings.num_kv_heads,
        max_position_embeddings=settings.max_position_embeddings,
        rms_norm_eps=1e-5,
        tie_word_embeddings=True,
        pad_token_id=PAD_ID,
        bos_token_id=BOS_ID,
        eos_token_id=END_ID,
    )
    model = LlamaForCausalLM(config)
    model.set_attn_implementation(attention.register())
    return model


def train(model: LlamaForCausalLM, tokenizer: Tokenizer, settings: Settings) -> Iterator[Progress]:
    """Train the model in place and report after every step."""
    optimizers = _optimizers(model, settings)
    held_out = list(_batches(tokenizer, settings, VALIDATION_SEED, settings.validation_documents))
    wall, cpu = time.perf_counter(), time.process_time()
    mean, num_tokens = math.nan, 0
    for step, batch in enumerate(_batches(tokenizer, settings, settings.seed), start=1):
        rate = settings.learning_rate * rate_at(step, settings)
        loss = _step(model, batch, optimizers, rate)
        mean = loss if step == 1 else 0.95 * mean + 0.05 * loss
        num_tokens += batch.ids.numel()
        is_last = step == settings.steps
        is_checked = is_last or step % settings.validation_every == 0
        yield Progress(
            step=step,
            loss=round(mean, 4),
            validation_loss=round(validate(model, held_out), 4) if is_checked else None,
            learning_rate=round(rate, 6),
            num_tokens=num_tokens,
            wall_s=round(time.perf_counter() - wall, 1),
            cpu_s=round(time.process_time() - cpu, 1),
        )
        if is_last:
            return


def rate_at(step: int, settings: Settings) -> float:
    """Return the share of the peak learning rate: a linear rise, a plateau, half a cosine."""
    rise = min(1.0, step / settings.warmup_steps)
    hold = settings.hold_share * settings.steps
    fall = max(0.0, step - hold) / (settings.steps - hold)
    return rise * (FINAL_RATE + (1 - FINAL_RATE) * 0.5 * (1 + math.cos(math.pi * fall)))


def loss_of(model: LlamaForCausalLM, batch: Batch) -> Tensor:
    """Return the weighted mean loss of predicting each next token, in nats."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        hidden = model.model(
            input_ids=batch.ids,
            position_ids=batch.positions,
            lengths=batch.lengths,
            use_cache=False,
        ).last_hidden_state
        logits = linear(hidden[0, :-1], model.lm_head.weight)
    losses = cross_entropy(logits.float(), batch.ids[0, 1:], reduction="none")
    weights = batch.weights[:-1]
    return (losses * weights).sum() / weights.sum()


@torch.no_grad()
def validate(model: LlamaForCausalLM, batches: list[Batch]) -> float:
    """Return the mean loss over the batches."""
    return sum(float(loss_of(model, batch)) for batch in batches) / len(batches)


def _batches(
    tokenizer: Tokenizer, settings: Settings, seed: int, num_documents: int | None = None
) -> Iterator[Batch]:
    texts = islice(documents(seed), num_documents)
    encoded = (tokenizer.encode(text, add_special_tokens=False).ids for text in texts)
    return pack(encoded, settings.tokens_per_step, settings.prompt_weight)


def _optimizers(model: nn.Module, settings: Settings) -> list[torch.optim.Optimizer]:
    named = list(model.named_parameters())
    matrices = [weights for name, weights in named if weights.ndim == 2 and "embed" not in name]
    others = [weights for name, weights in named if weights.ndim != 2 or "embed" in name]
    rate = settings.learning_rate
    return [
        torch.optim.Muon(matrices, lr=rate, weight_decay=0.05, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(others, lr=rate, betas=(0.9, 0.95), weight_decay=0.0),
    ]


def _step(
    model: LlamaForCausalLM, batch: Batch, optimizers: list[torch.optim.Optimizer], rate: float
) -> float:
    loss = loss_of(model, batch)
    loss.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(model.parameters(), MAX_GRADIENT_NORM)
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        optimizer.zero_grad()
    return float(loss.detach())
