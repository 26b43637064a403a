"""The command that times a device: `calibrate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tuiapp.cli.complaining import complaining
from tuiapp.cli.flags import (
    Attention,
    Compile,
    Dtype,
    EnforceEager,
    LoadFormat,
    Model,
    Quantization,
    RealDevice,
    Threads,
)


def calibrate_command(
    model: Model = "tiny",
    device: RealDevice = "cpu",
    dtype: Dtype = "auto",
    load_format: LoadFormat = "auto",
    attention: Attention = "auto",
    threads: Threads = 0,
    enforce_eager: EnforceEager = False,
    compiles: Compile = False,
    quantization: Quantization = "none",
    rounds: Annotated[
        int, typer.Option(metavar="N", min=1, help="How often each pass is timed.")
    ] = 9,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The file; none prints it."),
    ] = None,
) -> None:
    """Time this device and write a file of it, for --device sim:FILE.

    It prints how far predictions are off, on passes that the fit has not seen.
    """
    with complaining():
        from engine.runners.parts import ModelSpec
        from tuiapp.commands.calibrate import CalibrateRequest, calibrate

        spec = ModelSpec(
            model=model,
            device=device,
            dtype=dtype,
            load_format=load_format,
            attention=attention,
            num_threads=threads,
            enforce_eager=enforce_eager,
            compiles=compiles,
            quantization=quantization,
        )
        calibrate(CalibrateRequest(spec, rounds, output))
