"""`batchscope shot`: a picture of a screen, for a document or a test."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

import typer

from engine.config import ConfigError
from engine.hardware.models import SHIPPED_MODEL
from engine.runners.parts import ModelSpec
from tuiapp.overrides import NONE, Overrides
from tuiapp.presets import find_preset
from tuiapp.session import Session
from tuiapp.shot.frame import Form, Moment, read_common_moment, read_moment, read_size
from tuiapp.shot.shoot import Shot, shoot
from tuiapp.shot.sources import stage_preset, stage_recording
from tuiapp.shot.views import Shows, View, find_view
from tuiapp.writing import write_file

RECORDING = ".jsonl"
USUAL_MOMENT = Moment(num_passes=200)


@dataclass(frozen=True, slots=True)
class ShotRequest:
    """What to take, as the user said it.

    Attributes:
        source: a preset, its file, or a recording.
        at: None for pass 200, and for the end of what is compared.
        model: None for the preset's own, or else the shipped one.
        output: None prints the text.
    """

    source: str
    at: str | None = None
    screen: str = "live"
    size: str = "120x36"
    theme: str = ""
    ascii_only: bool = False
    output: Path | None = None
    variant: str | None = None
    model: str | None = None
    device: str = "sim:linear"
    overrides: Overrides = NONE


def take_and_write(request: ShotRequest) -> None:
    """Take a picture and write it, to stdout where no file is named.

    Raises:
        ConfigError: what is asked for cannot be.
    """
    view = find_view(request.screen)
    shot = Shot(
        moment=_moment(request.at, view),
        view=view,
        size=read_size(request.size),
        theme=request.theme,
        ascii_only=request.ascii_only,
        form=_form(request.output) if request.output else Form.TEXT,
    )
    session = _stage(request, shot)
    taken = asyncio.run(shoot(shot, session))
    if taken.note:
        typer.echo(f"batchscope: {taken.note}", err=True)
    if request.output is None:
        typer.echo(taken.text, nl=False)
        return
    write_file(request.output, taken.text)


def _moment(at: str | None, view: View) -> Moment:
    """Of the run, or of all lanes; nothing said is the end of these.

    Raises:
        ConfigError: it is no such moment.
    """
    if view.shows is Shows.LANES:
        return read_common_moment(at) if at else Moment()
    return read_moment(at) if at else USUAL_MOMENT


def _stage(request: ShotRequest, shot: Shot) -> Session:
    """What the picture is of: a recording, by its ending, or else a preset."""
    if request.source.endswith(RECORDING):
        return stage_recording(Path(request.source), shot.moment)
    preset = find_preset(request.source)
    spec = ModelSpec(request.model or preset.model or SHIPPED_MODEL, request.device)
    return stage_preset(preset, spec, request.overrides, request.variant)


def _form(path: Path) -> Form:
    """What a file is to hold, by its ending.

    Raises:
        ConfigError: it is no kind of picture that can be written.
    """
    ending = path.suffix.removeprefix(".").lower()
    if ending == "png":
        svg = path.with_suffix(".svg")
        how = (
            f"write {svg} and let a browser draw it: chromium --headless --screenshot={path} {svg}"
        )
        raise ConfigError(f"a picture is SVG or text; {how}", place="--output")
    known = {form.value: form for form in Form}
    if ending not in known:
        raise ConfigError(f"must end in .svg or .txt, got {path.name!r}", place="--output")
    return known[ending]
