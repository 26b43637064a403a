"""`Script`: the tables of a demo's file, as dataclasses that `engine.config` fills.

A script presses keys and says what must then be on the screen. It knows nothing of how it is
played: by forward passes on a virtual clock, or by seconds before somebody's eyes.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from engine.checks import require, require_positive
from engine.config import ConfigError, build, suggest
from engine.settings import BatcherName

SCHEMA = 1
SCRIPTS = Path(__file__).parent / "scripts"
LONGEST_CAPTION = 110  # characters: one line of the smallest film


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One thing that is shown.

    Attributes:
        caption: what the viewer is told meanwhile.
        keys: pressed at its beginning, as Textual names them.
        seconds: how long the viewer looks at it.
        passes: forward passes that run meanwhile, where time is not the machine's own.
        shows: words that must be on the screen at its end.
    """

    caption: str
    keys: tuple[str, ...] = ()
    seconds: float = 3.0
    passes: int = 0
    shows: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_positive(seconds=self.seconds)
        require(self.passes >= 0, f"passes must be at least 0, got {self.passes}")
        length = len(self.caption)
        require(
            0 < length <= LONGEST_CAPTION,
            f"caption must have 1 to {LONGEST_CAPTION} characters, got {length}",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A tour.

    Attributes:
        preset: what arrives; empty for the gentle mix that the playground begins with.
        rate: requests a second of the gentle mix, in a film.
        batcher: what the engine begins with, where no preset says it.
        device: of a film. Where a model runs on it the text is real; the times are simulated.
    """

    schema: int
    title: str
    preset: str = ""
    rate: float = 3.0
    batcher: BatcherName = BatcherName.STATIC
    device: str = "sim:linear"
    seed: int = 0
    scenes: tuple[Scene, ...] = field(metadata={"key": "scene"})

    def __post_init__(self) -> None:
        require(self.schema == SCHEMA, f"schema must be {SCHEMA}, got {self.schema}")
        require_positive(rate=self.rate)
        require(bool(self.scenes), "scene must be there at least once")

    @property
    def seconds(self) -> float:
        """How long it takes to watch."""
        return sum(scene.seconds for scene in self.scenes)


def list_scripts(folder: Path = SCRIPTS) -> tuple[str, ...]:
    """The names of the demos that come with batchscope."""
    return tuple(sorted(path.stem for path in folder.glob("*.toml")))


def find_script(name: str, folder: Path = SCRIPTS) -> Script:
    """A demo that comes with batchscope, or one from a file that ends in `.toml`.

    Raises:
        ConfigError: there is none of that name, or it is wrong.
    """
    if name.endswith(".toml"):
        return read_script(Path(name))
    names = list_scripts(folder)
    if name not in names:
        raise ConfigError(f"no demo is called {name!r}; {suggest(name, names)}")
    return read_script(folder / f"{name}.toml")


def read_script(path: Path) -> Script:
    """Read a demo's file.

    Raises:
        ConfigError: it is not there, is no TOML, or says what cannot be.
    """
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", place=str(path)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"this is no TOML: {error}", place=str(path)) from None
    return build(Script, table, str(path))
