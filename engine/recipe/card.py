"""Write the model card from the training log, so that its figures are the measured ones."""

import json
from pathlib import Path
from string import Template
from typing import Any

from engine.recipe.data import read_text
from engine.recipe.saving import LOG_NAME


def write_card(folder: Path) -> None:
    """Write the README.md of the model folder."""
    log = json.loads((folder / LOG_NAME).read_text(encoding="utf-8"))
    card = Template(read_text("card.md")).substitute(_figures(log))
    (folder / "README.md").write_text(card, encoding="utf-8")


def _figures(log: dict[str, Any]) -> dict[str, str]:
    last, settings = log["progress"][-1], log["settings"]
    return {
        "num_parameters": f"{log['num_parameters']:,}",
        "context": f"{settings['max_position_embeddings']:,}",
        "prompt_weight": str(settings["prompt_weight"]),
        "cpu_minutes": f"{last['cpu_s'] / 60:.0f}",
        "steps": f"{last['step']:,}",
        "million_tokens": f"{last['num_tokens'] / 1e6:.1f}",
        "validation_loss": f"{last['validation_loss']:.2f}",
        "filler_table": _filler_table(log["evaluation"]["behind_filler"]),
        "steady_names": f"{log['evaluation']['stories_with_steady_names']:.0%}",
        "length_table": _length_table(log["evaluation"]["answer_tokens"]),
    }


def _filler_table(rows: list[dict[str, Any]]) -> str:
    lines = [
        f"| {row['filler_tokens']:,} | {row['on_topic']:.0%} | {row['ended']:.0%} |"
        f" {row['num_answers']} |"
        for row in rows
    ]
    return "\n".join(["| filler | on topic | ended | answers |", "|---:|---:|---:|---:|", *lines])


def _length_table(lengths: dict[str, list[int]]) -> str:
    lines = [
        f"| {wish} | {low} | {middle} | {high} |" for wish, (low, middle, high) in lengths.items()
    ]
    return "\n".join(["| words | p10 | p50 | p90 |", "|---|---:|---:|---:|", *lines])
