"""Write what the playground shows beside the model: `python -m engine.recipe.demo DIR`.

`corpus.txt` is prose for prompts of a given number of tokens, `prompts.json` the demo prompts
with the lengths of their answers as the model in DIR gives them.
"""

import argparse
import json
import random
from pathlib import Path

import torch

from engine.recipe.answering import Answerer, percentiles
from engine.recipe.data import load
from engine.recipe.filler import paragraph

CORPUS_SEED = 7
CORPUS_CHARACTERS = 90_000
SAMPLES = 16


def main() -> None:
    """Write both files next to the model folder."""
    parser = argparse.ArgumentParser(prog="python -m engine.recipe.demo", description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    torch.set_num_threads(1)
    write_corpus(folder.parent / "corpus.txt")
    write_prompts(Answerer(folder), folder.parent / "prompts.json")


def write_corpus(path: Path) -> None:
    """Write prose in paragraphs, none of them twice."""
    rng = random.Random(CORPUS_SEED)
    paragraphs: dict[str, None] = {}
    while sum(map(len, paragraphs)) < CORPUS_CHARACTERS:
        paragraphs[paragraph(rng)] = None
    path.write_text("\n\n".join(paragraphs) + "\n", encoding="utf-8")


def write_prompts(answerer: Answerer, path: Path) -> None:
    """Write each demo prompt with the lengths of its answers and one of middle length."""
    entries = [_entry(answerer, prompt) for prompt in load("demo")["prompts"]]
    path.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")


def _entry(answerer: Answerer, prompt: str) -> dict[str, object]:
    answers = answerer.answer([prompt] * SAMPLES, seed=CORPUS_SEED)
    answers.sort(key=lambda answer: answer.num_tokens)
    return {
        "prompt": prompt,
        "tokens": percentiles([answer.num_tokens for answer in answers]),
        "sample": answers[len(answers) // 2].text,
    }


if __name__ == "__main__":
    main()
