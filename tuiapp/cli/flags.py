"""The flags that more than one command takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def complete_preset(incomplete: str) -> list[str]:
    """Preset names for the shell's completion."""
    from tuiapp.presets.files import preset_names

    return [name for name in preset_names() if name.startswith(incomplete)]


MODEL = "Model and device"  # the panels of the help
ENGINE = "Engine; what is left out stays as the preset or the recording has it"
RUNS = "Requests and runs"
GATES = "Gates"
REPORT = "Report"
LOOKS = "Looks"

MODEL_HELP = "tiny, smollm2, a folder, or a name on the Hugging Face hub"
DEVICE_HELP = "auto, cpu, cuda, mps; or to simulate: sim, sim:h200, sim:h100x8, sim:FILE"

Model = Annotated[str, typer.Option(metavar="NAME", help=f"{MODEL_HELP}.", rich_help_panel=MODEL)]
DEFAULT_MODEL = "tiny"
PresetModel = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help=f"{MODEL_HELP}; else the preset's own.",
        rich_help_panel=MODEL,
    ),
]
Device = Annotated[
    str,
    typer.Option(metavar="NAME", help=f"{DEVICE_HELP}.", rich_help_panel=MODEL),
]
ScreenDevice = Annotated[
    str | None,
    typer.Option(
        "--device",
        metavar="NAME",
        help=f"{DEVICE_HELP}; else the config file's, or auto.",
        rich_help_panel=MODEL,
    ),
]
RealDevice = Annotated[
    str,
    typer.Option("--device", metavar="NAME", help="auto, cpu, cuda or mps.", rich_help_panel=MODEL),
]
Dtype = Annotated[
    str,
    typer.Option(metavar="NAME", help="auto, float32, bfloat16 or float16.", rich_help_panel=MODEL),
]
LoadFormat = Annotated[
    str,
    typer.Option(metavar="NAME", help="auto, or dummy for random weights.", rich_help_panel=MODEL),
]
Attention = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="auto; or native (own kernel, CPU), triton (own kernel, CUDA; triton-tuned: in the"
        " tiles that are fastest here), varlen (torch's, CUDA), gather (anywhere).",
        rich_help_panel=MODEL,
    ),
]
KvMemory = Annotated[
    float,
    typer.Option(
        metavar="GIB", min=0.0, help="For the KV cache; 0 decides itself.", rich_help_panel=MODEL
    ),
]
Threads = Annotated[
    int,
    typer.Option(metavar="N", min=0, help="Of the CPU; 0 decides itself.", rich_help_panel=MODEL),
]
EnforceEager = Annotated[
    bool,
    typer.Option(
        "--enforce-eager", help="Launch every kernel anew: no CUDA graphs.", rich_help_panel=MODEL
    ),
]
Compile = Annotated[
    bool,
    typer.Option(
        "--compile",
        help="torch.compile the model: a slow start, faster passes on CUDA, slower on a CPU.",
        rich_help_panel=MODEL,
    ),
]
Quantization = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="Of the weights: none, or int8 (needs torchao).", rich_help_panel=MODEL
    ),
]
TensorParallel = Annotated[
    int,
    typer.Option(
        "--tensor-parallel",
        metavar="N",
        min=1,
        help="Processes, a device each, to share a model; or torchrun starts so many. It goes"
        " without CUDA graphs and fused kernels, and with neither --compile nor --quantization.",
        rich_help_panel=MODEL,
    ),
]
KvBlocks = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Blocks in the KV cache; 0 decides itself.", rich_help_panel=ENGINE
    ),
]
Batcher = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="static, dynamic or continuous.", rich_help_panel=ENGINE),
]
Slots = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Requests that run at once, or make up a batch.", rich_help_panel=ENGINE
    ),
]
Chunk = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Tokens of one prompt in a pass at most; 0 sets no limit.",
        rich_help_panel=ENGINE,
    ),
]
Deliver = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Answers: stream or batch.", rich_help_panel=ENGINE),
]
AsyncScheduling = Annotated[
    bool | None,
    typer.Option(
        "--async-scheduling/--no-async-scheduling",
        help="Plan a pass while the one before runs; left out, on CUDA only.",
        rich_help_panel=ENGINE,
    ),
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KNOB=VALUE",
        help="Any setting of the engine, as scheduling_policy=priority; repeatable.",
        rich_help_panel=ENGINE,
    ),
]
Ascii = Annotated[
    bool, typer.Option("--ascii", help="Draw with ASCII alone.", rich_help_panel=LOOKS)
]
ThemeName = Annotated[
    str | None,
    typer.Option(
        "--theme",
        metavar="NAME",
        help="dark, light or high-contrast; else the config file's.",
        rich_help_panel=LOOKS,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=0, help="Of the traffic; else the preset's.", rich_help_panel=RUNS
    ),
]
Pace = Annotated[
    float,
    typer.Option(
        metavar="FACTOR",
        min=0.0,
        max=1000.0,
        help="Stretches the time between arrivals; 0.5: twice as fast.",
        rich_help_panel=RUNS,
    ),
]
Variants = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Only this engine of those that it compares; repeatable.",
        rich_help_panel=RUNS,
    ),
]
FailIf = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CONDITION",
        help="Exit with 3 if a run comes to this, as 'ttft_p95_ms > 500'; repeatable.",
        rich_help_panel=GATES,
    ),
]
SloText = Annotated[
    str | None,
    typer.Option(
        metavar="OBJECTIVES",
        help="Exit with 3 unless met, as 'ttft_ms=500,attainment=0.95', or preset.",
        rich_help_panel=GATES,
    ),
]
RecordFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Record the run; of several, each to a file with its name added.",
        rich_help_panel=REPORT,
    ),
]
TraceFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write a trace that Perfetto opens.", rich_help_panel=REPORT),
]
ReportFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Write a page with timelines and latencies.", rich_help_panel=REPORT
    ),
]
Profile = Annotated[
    bool,
    typer.Option(
        "--profile", help="Tell where the host's time goes, phase by phase.", rich_help_panel=REPORT
    ),
]
ProfileDir = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="The same, and a torch profiler trace of some passes by run, in DIR.",
        rich_help_panel=REPORT,
    ),
]
RecordingFile = Annotated[
    Path, typer.Argument(metavar="RECORDING", help="A file that --record wrote, or a kept run.")
]
AsCsv = Annotated[
    bool, typer.Option("--csv", help="Print every metric as CSV.", rich_help_panel=REPORT)
]
AsMarkdown = Annotated[
    bool, typer.Option("--markdown", help="Print a table for a document.", rich_help_panel=REPORT)
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object.", rich_help_panel=REPORT)
]
PresetName = Annotated[
    str,
    typer.Argument(
        metavar="PRESET", help="A preset, or a file of one.", autocompletion=complete_preset
    ),
]
