"""Models by name: `find_model`. Only their dimensions; no weights are read."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from engine.config import ConfigError, build, suggest
from engine.cost import ModelShape
from engine.hardware.files import read_table, shipped_files

SHIPPED_MODEL = "tiny"
DIMENSIONS = (
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "vocab_size",
    "max_position_embeddings",
)
EXTRA_MODEL = {"smollm2": "smollm2-135m"}  # what the engine calls a model that has a file here
QK_NORM = {"llama": False, "mistral": False, "qwen2": False, "qwen3": True}


def find_model(name: str) -> ModelShape:
    """The dimensions of the shipped model, of a named one, or of the one in a folder.

    A name on the Hugging Face hub will do as well, and a tuned model has the shape of its base.

    Raises:
        ConfigError: there is none, or it is of a kind whose cost is not known here.
    """
    if name == SHIPPED_MODEL:
        return _read_config(Path(str(files("engine.models") / SHIPPED_MODEL)), name)
    named = shipped_files("models")
    if Path(name).is_dir():
        return _read_config(Path(name), Path(name).name)
    short = name.rpartition("/")[2].lower().removesuffix("-instruct")
    if path := named.get(EXTRA_MODEL.get(short, short)):
        return build(ModelShape, read_table(path), str(path))
    hint = suggest(short, (SHIPPED_MODEL, *named))
    raise ConfigError(f"no model to simulate is called {name!r}; {hint}")


def _read_config(folder: Path, name: str) -> ModelShape:
    """Read a model's `config.json`."""
    path = folder / "config.json"
    try:
        config: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot be read: {error}", place=str(path)) from error
    kind = config.get("model_type")
    if kind not in QK_NORM:
        known = ", ".join(QK_NORM)
        raise ConfigError(f"cannot simulate a {kind!r}; known: {known}", ("model_type",), str(path))
    heads, hidden = config.get("num_attention_heads"), config.get("hidden_size")
    if "head_dim" not in config and isinstance(heads, int) and isinstance(hidden, int) and heads:
        config["head_dim"] = hidden // heads
    table = {key: config[key] for key in DIMENSIONS if key in config}
    table["tie_word_embeddings"] = config.get("tie_word_embeddings", False)
    table |= {"name": name, "has_qk_norm": QK_NORM[kind], "source": str(path)}
    return build(ModelShape, table, str(path))
