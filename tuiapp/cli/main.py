"""The command line. Heavy imports wait until a command needs them, so that help is instant.

Exit codes: 0 done, 1 a run failed, 2 what was asked for cannot be, 3 a run missed what --fail-if or
--slo ask of it, 130 interrupted.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from engine.collector import collect_seldom
from tuiapp.cli.bare_help import BareCommand, BareGroup
from tuiapp.cli.bench import bench_command
from tuiapp.cli.complaining import complaining
from tuiapp.cli.config import config_command
from tuiapp.cli.flags import (
    DEFAULT_MODEL,
    Ascii,
    AsJson,
    AsyncScheduling,
    Attention,
    Batcher,
    Chunk,
    Compile,
    Deliver,
    Device,
    Dtype,
    EnforceEager,
    KvBlocks,
    KvMemory,
    LoadFormat,
    Model,
    PresetModel,
    PresetName,
    Quantization,
    ScreenDevice,
    Seed,
    Sets,
    Slots,
    ThemeName,
    Threads,
    complete_preset,
)
from tuiapp.cli.looks import delete_command, runs_command, shot_command
from tuiapp.cli.presets import import_command, new_command
from tuiapp.cli.runs import compare_command, replay_command, rerun_command, run_command
from tuiapp.cli.shows import demo_command, serve_command
from tuiapp.cli.streams import bearing_streams
from tuiapp.cli.terminal import is_terminal

DONE, MISUSED = 0, 2
NO_TERMINAL = (
    "batchscope: the screen needs a terminal, and output goes elsewhere; "
    "run, compare and replay work without one"
)

app = typer.Typer(
    cls=BareGroup,
    help="See LLM inference batching happen, live, on a real engine in this process.",
    epilog="Try: batchscope, then press 1, 2 and 3. Or: batchscope run straggler --device sim",
    no_args_is_help=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
presets_app = typer.Typer(cls=BareGroup, help="List, show and check presets.")
app.add_typer(presets_app, name="presets")
runs_app = typer.Typer(cls=BareGroup, help="List and delete the runs that were kept.")
app.add_typer(runs_app, name="runs")
runs_app.callback(invoke_without_command=True)(runs_command)


def _add(parent: typer.Typer, name: str, command: Callable[..., None], **context: bool) -> None:
    parent.command(name, cls=BareCommand, context_settings=context)(command)


_add(presets_app, "new", new_command)
_add(app, "import", import_command)
_add(app, "run", run_command)
_add(app, "compare", compare_command)
_add(app, "replay", replay_command)
_add(app, "rerun", rerun_command)
_add(app, "bench", bench_command)
_add(app, "shot", shot_command)
_add(app, "demo", demo_command)
_add(app, "serve", serve_command, allow_extra_args=True)
_add(app, "config", config_command)
_add(runs_app, "delete", delete_command)


def main() -> None:
    """Run the command line."""
    collect_seldom()
    with bearing_streams():
        app()


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(f"batchscope {version('batchscope')}")
        except PackageNotFoundError:
            typer.echo("batchscope, from a checkout that is not installed")
        raise typer.Exit(DONE)


@app.callback(invoke_without_command=True)
def screen(
    context: typer.Context,
    model: PresetModel = None,
    device: ScreenDevice = None,
    dtype: Dtype = "auto",
    load_format: LoadFormat = "auto",
    attention: Attention = "auto",
    kv_memory: KvMemory = 0.0,
    threads: Threads = 0,
    enforce_eager: EnforceEager = False,
    compiles: Compile = False,
    quantization: Quantization = "none",
    num_kv_blocks: KvBlocks = None,
    batcher: Batcher = None,
    slots: Slots = None,
    chunk: Chunk = None,
    deliver: Deliver = None,
    async_scheduling: AsyncScheduling = None,
    sets: Sets = None,
    seed: Seed = None,
    preset: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Begin with a preset.", autocompletion=complete_preset),
    ] = None,
    idle: Annotated[bool, typer.Option("--idle", help="Begin with no traffic.")] = False,
    ascii_only: Ascii = False,
    theme: ThemeName = None,
    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Record what happens, for replay.")
    ] = None,
    _version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """See LLM inference batching happen, live, on a real engine in this process."""
    if context.invoked_subcommand:
        _refuse_screen_options(context)
        return
    if not is_terminal():
        typer.echo(context.get_help())
        typer.echo(NO_TERMINAL, err=True)
        raise typer.Exit(MISUSED)
    with complaining():
        from engine.runners.parts import ModelSpec
        from tuiapp.app import open_playground
        from tuiapp.options import read_overrides, screen_options
        from tuiapp.preferred import choose_preset, read_own

        own = read_own(theme=theme, ascii_only=ascii_only)
        wanted, own = choose_preset(own, preset, is_idle=idle)
        liked = own.preferences
        name = model or (wanted.model if wanted else None) or liked.model or DEFAULT_MODEL
        spec = ModelSpec(
            model=name,
            device=device or liked.device or "auto",
            dtype=dtype,
            load_format=load_format,
            attention=attention,
            kv_memory_gib=kv_memory,
            num_threads=threads,
            enforce_eager=enforce_eager,
            compiles=compiles,
            quantization=quantization,
        )
        overrides = read_overrides(
            slots, chunk, num_kv_blocks, batcher, deliver, async_scheduling, sets or ()
        )
        options = screen_options(
            spec,
            overrides,
            preset=preset or (liked.preset if wanted else None),
            idle=idle,
            seed=seed or 0,
            own=own,
            record=record,
        )
        code = open_playground(options)
    raise typer.Exit(code)


@presets_app.callback(invoke_without_command=True)
def list_command(context: typer.Context, as_json: AsJson = False) -> None:
    """List the presets: those that come with batchscope, and your own."""
    if not context.invoked_subcommand:
        from tuiapp.commands.presets import list_and_print

        raise typer.Exit(list_and_print(as_json=as_json))


@presets_app.command("show", cls=BareCommand)
def show_command(preset: PresetName, as_json: AsJson = False) -> None:
    """Show one preset: its story, its traffic, and what it claims."""
    with complaining():
        from tuiapp.commands.presets import show
        from tuiapp.presets import find_preset

        show(find_preset(preset), as_json=as_json)


@presets_app.command("check", cls=BareCommand)
def check_command(
    names: Annotated[list[str], typer.Argument(metavar="NAME|FILE", help="Which.")],
) -> None:
    """Check presets: names, types, values, and whether the parts go together."""
    from tuiapp.commands.presets import check

    raise typer.Exit(DONE if check(names) else MISUSED)


@app.command("calibrate", cls=BareCommand)
def calibrate_command(
    model: Model = "tiny",
    device: Device = "cpu",
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


@app.command("locate", cls=BareCommand)
def locate_command() -> None:
    """Say where things lie: the program, the shipped model, presets, and yours."""
    from tuiapp.commands.presets import locate

    locate()


def _refuse_screen_options(context: typer.Context) -> None:
    """Options before a command would be for the screen, and silently lost.

    Raises:
        typer.BadParameter: there is one.
    """
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is not None and source.name == "COMMANDLINE":
            command = context.invoked_subcommand
            flag = parameter.opts[0]
            raise typer.BadParameter(
                f"{flag} before {command!r} is for the screen; put it after {command!r}"
            )
