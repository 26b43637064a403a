"""The commands that run a preset without a screen: `run` and `compare`."""

from __future__ import annotations

from typing import Annotated

import typer

from tuiapp.cli.complaining import complaining
from tuiapp.cli.flags import (
    DEFAULT_MODEL,
    RUNS,
    AsCsv,
    AsJson,
    AsMarkdown,
    AsyncScheduling,
    Attention,
    Batcher,
    Chunk,
    Compile,
    Deliver,
    Device,
    Dtype,
    EnforceEager,
    FailIf,
    KvBlocks,
    KvMemory,
    LoadFormat,
    Pace,
    PresetModel,
    PresetName,
    Profile,
    ProfileDir,
    Quantization,
    RecordFile,
    ReportFile,
    Seed,
    Sets,
    SloText,
    Slots,
    TensorParallel,
    Threads,
    TraceFile,
    Variants,
)


def run_command(
    preset: PresetName,
    variant: Variants = None,
    model: PresetModel = None,
    device: Device = "auto",
    dtype: Dtype = "auto",
    load_format: LoadFormat = "auto",
    attention: Attention = "auto",
    kv_memory: KvMemory = 0.0,
    threads: Threads = 0,
    enforce_eager: EnforceEager = False,
    compiles: Compile = False,
    quantization: Quantization = "none",
    tensor_parallel: TensorParallel = 1,
    num_kv_blocks: KvBlocks = None,
    batcher: Batcher = None,
    slots: Slots = None,
    chunk: Chunk = None,
    deliver: Deliver = None,
    async_scheduling: AsyncScheduling = None,
    sets: Sets = None,
    seed: Seed = None,
    pace: Pace = 1.0,
    as_json: AsJson = False,
    fail_if: FailIf = None,
    slo: SloText = None,
    record: RecordFile = None,
    trace: TraceFile = None,
    report: ReportFile = None,
    profile: Profile = False,
    profile_dir: ProfileDir = None,
) -> None:
    """Run a preset without the screen and report: every engine that it compares, or one.

    With --batcher and no --variant it runs the preset's own engine, with that batcher.
    """
    with complaining():
        from engine.runners.parts import ModelSpec
        from tuiapp.commands.run import run_and_report
        from tuiapp.options import read_overrides
        from tuiapp.presets import find_preset
        from tuiapp.running.outputs import Outputs
        from tuiapp.running.profiling import Profiling
        from tuiapp.running.runs import RunRequest

        story = find_preset(preset)
        name = model or story.model or DEFAULT_MODEL
        request = RunRequest(
            preset=story,
            spec=ModelSpec(
                model=name,
                device=device,
                dtype=dtype,
                load_format=load_format,
                attention=attention,
                kv_memory_gib=kv_memory,
                num_threads=threads,
                enforce_eager=enforce_eager,
                compiles=compiles,
                quantization=quantization,
                tensor_parallel_size=tensor_parallel,
            ),
            overrides=read_overrides(
                slots, chunk, num_kv_blocks, batcher, deliver, async_scheduling, sets or ()
            ),
            variants=tuple(variant or ()),
            seed=seed,
            pace=pace,
            fail_if=tuple(fail_if or ()),
            slo=slo,
            outputs=Outputs(record, trace, report),
            profiling=Profiling(profile_dir) if profile or profile_dir else None,
        )
        code = run_and_report(request, as_json=as_json)
    raise typer.Exit(code)


def compare_command(
    preset: PresetName,
    variants: Annotated[
        str,
        typer.Option(
            metavar="A,B",
            help="Only these, the first of which is the measure.",
            rich_help_panel=RUNS,
        ),
    ] = "",
    model: PresetModel = None,
    device: Device = "auto",
    dtype: Dtype = "auto",
    load_format: LoadFormat = "auto",
    attention: Attention = "auto",
    kv_memory: KvMemory = 0.0,
    threads: Threads = 0,
    enforce_eager: EnforceEager = False,
    compiles: Compile = False,
    quantization: Quantization = "none",
    tensor_parallel: TensorParallel = 1,
    num_kv_blocks: KvBlocks = None,
    slots: Slots = None,
    chunk: Chunk = None,
    deliver: Deliver = None,
    async_scheduling: AsyncScheduling = None,
    sets: Sets = None,
    seed: Seed = None,
    pace: Pace = 1.0,
    repeats: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            help="Runs of each, made in turn, to tell noise apart.",
            rich_help_panel=RUNS,
        ),
    ] = 1,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_markdown: AsMarkdown = False,
    fail_if: FailIf = None,
    slo: SloText = None,
    record: RecordFile = None,
    trace: TraceFile = None,
    report: ReportFile = None,
) -> None:
    """Run every engine of a preset on the same requests, with ratios to the first, and a verdict.

    A preset that compares nothing is run under static, dynamic and continuous batching. What
    noise explains is called no win; of several runs the medians count.
    """
    with complaining():
        from engine.runners.parts import ModelSpec
        from tuiapp.commands.compare import choose_form, compare_and_report
        from tuiapp.options import read_overrides
        from tuiapp.presets import find_preset
        from tuiapp.running.outputs import Outputs
        from tuiapp.running.runs import RunRequest

        form = choose_form(as_json=as_json, as_csv=as_csv, as_markdown=as_markdown)
        story = find_preset(preset)
        name = model or story.model or DEFAULT_MODEL
        request = RunRequest(
            preset=story,
            spec=ModelSpec(
                model=name,
                device=device,
                dtype=dtype,
                load_format=load_format,
                attention=attention,
                kv_memory_gib=kv_memory,
                num_threads=threads,
                enforce_eager=enforce_eager,
                compiles=compiles,
                quantization=quantization,
                tensor_parallel_size=tensor_parallel,
            ),
            overrides=read_overrides(
                slots, chunk, num_kv_blocks, None, deliver, async_scheduling, sets or ()
            ),
            variants=tuple(each.strip() for each in variants.split(",") if each.strip()),
            seed=seed,
            pace=pace,
            fail_if=tuple(fail_if or ()),
            slo=slo,
            outputs=Outputs(record, trace, report),
            repeats=repeats,
        )
        code = compare_and_report(request, form)
    raise typer.Exit(code)
