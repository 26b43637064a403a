"""Read the word lists, facts and plots that lie beside the code."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def load(name: str) -> dict[str, Any]:
    """Return the content of `data/{name}.toml`."""
    return tomllib.loads(read_text(f"{name}.toml"))


def read_text(name: str) -> str:
    """Return the content of a file of the data folder."""
    return files("engine.recipe").joinpath("data", name).read_text(encoding="utf-8")


@cache
def words(name: str) -> list[str]:
    """Return the word list of that name; an underscore in the file stands for a space."""
    return split_words(load("words")["words"][name])


def phrases(name: str) -> list[str]:
    """Return the phrase list of that name."""
    found: list[str] = load("words")["phrases"][name]
    return found


def split_words(text: str) -> list[str]:
    """Split at spaces and turn underscores into spaces."""
    return [word.replace("_", " ") for word in text.split()]
