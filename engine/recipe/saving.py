"""Write the model folder: weights in bfloat16, tokenizer, chat template, training log."""

import json
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from tokenizers import Tokenizer
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM

from engine.recipe.settings import Settings
from engine.recipe.tokenizer import BOS_ID, END_ID, PAD_ID, for_transformers
from engine.recipe.training import Progress

LOG_NAME = "training_log.json"
GENERATION = GenerationConfig(  # type: ignore[no-untyped-call]
    bos_token_id=BOS_ID,
    eos_token_id=END_ID,
    pad_token_id=PAD_ID,
    do_sample=True,
    temperature=0.8,
    top_p=0.95,
    max_new_tokens=640,
)


def save_model(model: LlamaForCausalLM, tokenizer: Tokenizer, out: Path) -> None:
    """Write everything that `from_pretrained` reads."""
    plain = LlamaForCausalLM(LlamaConfig.from_dict(model.config.to_dict()))
    plain.load_state_dict(model.state_dict())
    plain.bfloat16()
    plain.generation_config = GENERATION
    plain.save_pretrained(out)
    for_transformers(tokenizer, model.config.max_position_embeddings).save_pretrained(out)


def save_log(
    settings: Settings, model: LlamaForCausalLM, progress: list[Progress], out: Path
) -> None:
    """Write how the model was made."""
    log = {
        "settings": asdict(settings),
        "num_parameters": model.num_parameters(),
        "versions": {name: version(name) for name in ("torch", "transformers", "tokenizers")},
        "progress": [asdict(entry) for entry in progress],
    }
    (out / LOG_NAME).write_text(json.dumps(log, indent=1) + "\n", encoding="utf-8")


def add_to_log(out: Path, name: str, content: object) -> None:
    """Add one more entry to the training log."""
    path = out / LOG_NAME
    log = json.loads(path.read_text(encoding="utf-8"))
    log[name] = content
    path.write_text(json.dumps(log, indent=1) + "\n", encoding="utf-8")
