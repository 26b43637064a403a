"""`batchscope calibrate`: time this device, fit the cost model to it, say how far that is off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from engine.assembly import build_core
from engine.calibrate import (
    MAX_CONTEXT_TOKENS,
    CpuClock,
    Point,
    fitting_points,
    held_out_points,
    measure,
)
from engine.clock import WallClock
from engine.config import ConfigError
from engine.core import EngineCore
from engine.cost import Device, ModelShape, Roofline
from engine.cost.fit import Timed, fit_device
from engine.hardware import find_model
from engine.hardware.write import device_to_toml
from engine.log import EventLog
from engine.plan import RunnerError
from engine.runners.parts import ModelSpec
from engine.settings import EngineSettings
from engine.telemetry import make_telemetry
from tuiapp.reports.calibration import report_errors
from tuiapp.writing import check_writable, write_file

BLOCK_SIZE = 16
KEPT_EVENTS = 4096  # more than a pass writes
MAX_ROWS = 64  # more than any pass of the grids has; each may leave a block half empty


@dataclass(frozen=True, slots=True)
class CalibrateRequest:
    """What to measure.

    Attributes:
        rounds: how often each pass is timed.
        output: the device file to write; None prints it.
    """

    spec: ModelSpec
    rounds: int
    output: Path | None = None


def calibrate(request: CalibrateRequest) -> None:
    """Measure, fit, report and write; the report goes to stderr where stdout gets the file.

    Raises:
        ConfigError: there is no such model or device, it is one to simulate, a pass failed, or
            the file cannot be written.
    """
    spec, shape = _choose_threads(request.spec), find_model(request.spec.model)
    if request.output:
        check_writable(request.output)
    counts_cpu_time = spec.device == "cpu" and spec.num_threads == 1
    settings = EngineSettings(
        num_kv_blocks=MAX_CONTEXT_TOKENS // BLOCK_SIZE + MAX_ROWS, block_size=BLOCK_SIZE
    )
    core = build_core(
        spec, settings, CpuClock() if counts_cpu_time else WallClock(), EventLog(KEPT_EVENTS)
    )
    fitted_points = fitting_points(core.max_model_len)
    points = held_out_points(core.max_model_len)
    timed = _measure(core, [*fitted_points, *points], request.rounds)
    fitted, held_out = timed[: len(fitted_points)], timed[len(fitted_points) :]
    device = _fit(core, shape, fitted, "CPU time" if counts_cpu_time else "time")
    cost = Roofline(shape, device, core.info.dtype)
    console = Console(stderr=request.output is None)
    report_errors(console, cost, fitted, points, held_out)
    text = device_to_toml(device)
    if request.output is None:
        typer.echo(text, nl=False)
    else:
        write_file(request.output, text)


def _choose_threads(spec: ModelSpec) -> ModelSpec:
    """One thread on a CPU unless more are asked for, so that its CPU time is what a pass takes.

    Raises:
        ConfigError: the device is one to simulate.
    """
    if spec.device.startswith("sim"):
        raise ConfigError("a simulation has nothing to measure; name a real device, such as cpu")
    return replace(spec, num_threads=spec.num_threads or 1) if spec.device == "cpu" else spec


def _measure(core: EngineCore, points: Sequence[Point], rounds: int) -> list[Timed]:
    """Time the points, with a progress bar on a terminal.

    Raises:
        ConfigError: a pass failed.
    """
    console = Console(stderr=True)
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as progress:
        task = progress.add_task(f"timing {len(points)} kinds of pass", total=rounds + 1)
        try:
            return measure(core, points, rounds, lambda: progress.advance(task))
        except RunnerError as error:
            raise ConfigError(f"cannot calibrate: {error}") from error


def _fit(core: EngineCore, shape: ModelShape, timed: Sequence[Timed], unit: str) -> Device:
    """The device, with words on where its figures are from.

    Raises:
        ConfigError: it is not known how much memory it has.
    """
    info = core.info
    gauges = make_telemetry(info.device_uuid).read(0.0)
    if not gauges.memory_total:
        raise ConfigError(f"cannot calibrate: {gauges.problem or 'the device hides its memory'}")
    memory_gb = gauges.memory_total / 1e9
    name = f"{info.device}, {info.num_threads} thread{'s' * (info.num_threads > 1)}"
    device = fit_device(
        timed, shape, info.dtype, name if info.device == "cpu" else info.device, memory_gb
    )
    fitted = f"fitted to the {unit} of {len(timed)} kinds of pass of {info.model}"
    return replace(
        device,
        sources={
            "memory_gb": "what the system reports",
            "bandwidth_gb_s": f"the best rate that was {fitted}; a lower bound where arithmetic "
            "hides the reading of weights",
            "tflops": f"the best rate that was {fitted}, no peak",
            "achieved": fitted,
        },
    )
