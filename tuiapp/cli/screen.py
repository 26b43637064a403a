"""The command with no name: open the screen."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tuiapp.cli.complaining import MISUSED, complaining
from tuiapp.cli.flags import (
    DEFAULT_MODEL,
    REPORT,
    RUNS,
    Ascii,
    AsyncScheduling,
    Attention,
    Batcher,
    Chunk,
    Compile,
    Deliver,
    Dtype,
    EnforceEager,
    KvBlocks,
    KvMemory,
    LoadFormat,
    PresetModel,
    Quantization,
    ScreenDevice,
    Seed,
    Sets,
    Slots,
    ThemeName,
    Threads,
    complete_preset,
)
from tuiapp.cli.terminal import is_terminal

NO_TERMINAL = (
    "batchscope: the screen needs a terminal, and output goes elsewhere; "
    "run, compare and replay work without one"
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(f"batchscope {version('batchscope')}")
        except PackageNotFoundError:
            typer.echo("batchscope, from a checkout that is not installed")
        raise typer.Exit


def screen_command(
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
        typer.Option(
            metavar="NAME",
            help="Begin with a preset, or a file of one; else the config file's.",
            autocompletion=complete_preset,
            rich_help_panel=RUNS,
        ),
    ] = None,
    idle: Annotated[
        bool, typer.Option("--idle", help="Begin with no traffic.", rich_help_panel=RUNS)
    ] = False,
    ascii_only: Ascii = False,
    theme: ThemeName = None,
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Record what happens, for replay.", rich_help_panel=REPORT
        ),
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
