"""Small random models in float32, cores that run them, and what transformers says of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

import torch
from transformers import (
    Gemma2Config,
    Gemma2ForCausalLM,
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    GPT2Config,
    GPT2LMHeadModel,
    GptOssConfig,
    GptOssForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from engine.core import EngineCore
from engine.request import Request, SamplingParams, Sequence, Status
from engine.run import run
from engine.runners.capture import Capture
from engine.runners.inputs.fields import Fields, Shape
from engine.runners.inputs.staging import Staging
from engine.runners.loading.load import DummyTokenizer
from engine.runners.loading.support import adopt
from engine.runners.torch_runner import TorchRunner
from engine.workload import Listed
from tests.builders import make_core, make_info, outputs_of

BLOCK_SIZE = 4
VOCAB_SIZE = 131
WINDOW = 8
PROMPT_LENGTHS = (1, 3, 11, 20, 34)
MAX_TOKENS = (16, 18, 20, 1, 14)
SHAPE: dict[str, Any] = {
    "vocab_size": VOCAB_SIZE,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 256,
    "initializer_range": 0.4,  # so that outputs vary, as those of a trained model do
    "pad_token_id": None,
    "bos_token_id": None,
    "eos_token_id": None,
}
WINDOWED: dict[str, Any] = {
    "sliding_window": WINDOW,
    "layer_types": ["sliding_attention", "full_attention"],
}
GEMMA = WINDOWED | {"query_pre_attn_scalar": 16, "tie_word_embeddings": False}
GPT2_SHAPE: dict[str, Any] = {
    "vocab_size": VOCAB_SIZE,
    "n_embd": 32,
    "n_layer": 2,
    "n_head": 4,
    "n_positions": 256,
    "initializer_range": 0.4,
    "pad_token_id": None,
    "bos_token_id": None,
    "eos_token_id": None,
}

MODELS: dict[str, Callable[[], PreTrainedModel]] = {
    "llama": lambda: LlamaForCausalLM(LlamaConfig(**SHAPE)),
    "qwen3": lambda: Qwen3ForCausalLM(Qwen3Config(**SHAPE)),
    "gemma3": lambda: Gemma3ForCausalLM(Gemma3TextConfig(**SHAPE, **GEMMA)),
    "gpt2": lambda: GPT2LMHeadModel(GPT2Config(**GPT2_SHAPE)),
    "gemma2": lambda: Gemma2ForCausalLM(Gemma2Config(**SHAPE, **GEMMA, attn_logit_softcapping=2.0)),
    "gpt-oss": lambda: GptOssForCausalLM(
        GptOssConfig(**SHAPE, **WINDOWED, num_local_experts=2, num_experts_per_tok=1)
    ),
}


def make_model(name: str) -> PreTrainedModel:
    """The model of that name, always with the same weights."""
    torch.manual_seed(7)
    model = MODELS[name]().eval()
    model.set_attn_implementation("eager")  # what `generate` uses: it alone knows all the options
    return model


def generate(model: PreTrainedModel, prompt: tuple[int, ...], max_tokens: int) -> list[int]:
    """The prompt's greedy continuation by transformers' own loop, alone in its batch."""
    ids = torch.tensor([prompt], device=model.device)
    output = model.generate(
        ids,
        attention_mask=torch.ones_like(ids),  # or it would take a 0 in the prompt for padding
        max_new_tokens=max_tokens,
        do_sample=False,
        pad_token_id=0,
    )
    return output[0, len(prompt) :].tolist()


def generate_each(name: str, requests: Iterable[Request]) -> dict[str, list[int]]:
    """What `generate` gives for each request alone, by id."""
    model = make_model(name)
    return {
        request.id: generate(model, request.prompt_token_ids, request.sampling.max_tokens)
        for request in requests
    }


def make_runner(
    model: PreTrainedModel,
    num_blocks: int = 64,
    block_size: int = BLOCK_SIZE,
    eos_token_ids: frozenset[int] = frozenset(),
    capture: Capture | None = None,
    way: str = "auto",
) -> TorchRunner:
    """A runner that takes the model over: `generate` cannot use it any more."""
    runner = TorchRunner(model, adopt(model, way), eos_token_ids, capture, max_model_len=256)
    runner.resize(num_blocks, block_size)
    return runner


def make_torch_core(
    name: str, capture: Capture | None = None, way: str = "auto", **knobs: Any
) -> EngineCore:
    """A core that runs the model of that name; `knobs` are fields of its settings."""
    return make_model_core(make_model(name), capture, way, **knobs)


def make_model_core(
    model: PreTrainedModel, capture: Capture | None = None, way: str = "auto", **knobs: Any
) -> EngineCore:
    """A core that runs a model, and takes it over."""
    num_blocks = knobs.get("num_kv_blocks", 64)
    return make_core(
        runner=make_runner(model, num_blocks, capture=capture, way=way),
        tokenizer=DummyTokenizer(VOCAB_SIZE, frozenset()),
        info=make_info(256, num_blocks),
        **{"block_size": BLOCK_SIZE, "max_num_seqs": 4} | knobs,
    )


def make_prompt(length: int, seed: int = 0) -> tuple[int, ...]:
    rng = random.Random(f"{length} {seed}")
    return tuple(rng.randrange(VOCAB_SIZE) for _ in range(length))


def make_requests(**sampling: Any) -> list[Request]:
    lengths = zip(PROMPT_LENGTHS, MAX_TOKENS, strict=True)
    return [
        Request(f"r{index}", make_prompt(length), SamplingParams(max_tokens=most, **sampling))
        for index, (length, most) in enumerate(lengths)
    ]


def serve(core: EngineCore, requests: list[Request]) -> dict[str, list[int]]:
    """Run the requests to their ends; return the tokens of every request so far."""
    run(core, Listed(requests))
    return outputs_of(core.log)


def begin(prompt: tuple[int, ...], first_block: int = 0, num_blocks: int = 16) -> Sequence:
    """A running sequence with blocks in a row from `first_block` on."""
    seq = Sequence(Request(f"from-block-{first_block}", prompt))
    seq.move_to(Status.RUNNING)
    seq.slot = first_block
    seq.block_table = list(range(first_block, first_block + num_blocks))
    return seq


def sampling_fields(
    params: list[SamplingParams], numbers: list[float] | None = None
) -> Fields[torch.Tensor]:
    """What the sampler is told of rows with these parameters, on the CPU."""
    staging, shape = Staging(torch.device("cpu")), Shape(0, len(params))
    host = staging.open(shape)
    host.parameters[:] = [(p.temperature, p.top_p, p.min_p, p.top_k) for p in params]
    host.number[:] = numbers or [0.0] * len(params)
    return staging.send(shape)
