"""Make the model folder: `python -m engine.recipe --out DIR`."""

import argparse
import sys
from itertools import islice
from pathlib import Path

import torch

from engine.recipe.documents import documents
from engine.recipe.evaluate import evaluate
from engine.recipe.saving import save_log, save_model
from engine.recipe.settings import Settings
from engine.recipe.tokenizer import train_tokenizer
from engine.recipe.training import Progress, new_model, train

DEFAULT_OUT = Path("engine/models/tiny")
LOG_EVERY = 25
SAVE_EVERY = 250


def main() -> None:
    """Run the whole recipe."""
    arguments = _parse()
    torch.set_num_threads(arguments.threads)
    settings = Settings(
        seed=arguments.seed, steps=arguments.steps, learning_rate=arguments.learning_rate
    )
    make(settings, arguments.out)
    evaluate(arguments.out)


def make(settings: Settings, out: Path) -> None:
    """Train the tokenizer and the model, and write the folder."""
    corpus = islice(documents(settings.seed), settings.tokenizer_documents)
    tokenizer = train_tokenizer(corpus, settings.vocab_size)
    model = new_model(settings)
    _say(f"{model.num_parameters()} parameters")
    progress = []
    for entry in train(model, tokenizer, settings):
        if entry.step == 1 or entry.step % LOG_EVERY == 0 or entry.validation_loss is not None:
            progress.append(entry)
            _say(_line(entry))
        if entry.step % SAVE_EVERY == 0:
            save_model(model, tokenizer, out)
    save_model(model, tokenizer, out)
    save_log(settings, model, progress, out)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m engine.recipe", description=__doc__)
    defaults = Settings()
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT)
    parser.add_argument("--steps", type=int, default=defaults.steps)
    parser.add_argument("--seed", type=int, default=defaults.seed)
    parser.add_argument("--learning-rate", type=float, default=defaults.learning_rate)
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


def _line(entry: Progress) -> str:
    line = f"step {entry.step}  loss {entry.loss:.3f}"
    if entry.validation_loss is not None:
        line += f"  validation {entry.validation_loss:.3f}"
    return f"{line}  {entry.num_tokens} tokens  {entry.wall_s:.0f} s  {entry.cpu_s:.0f} cpu-s"


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
