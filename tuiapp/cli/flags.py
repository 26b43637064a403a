"""The flags that more than one command takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def complete_preset(incomplete: str) -> list[str]:
    """Preset names for the shell's completion."""
    from tuiapp.presets.files import preset_names

    return [name for name in preset_names() if name.startswith(incomplete)]


MODEL_HELP = "tiny, smollm2, a folder, or a name on the Hugging Face hub"
DEVICE_HELP = "auto, cpu, cuda, mps; or to simulate: sim, sim:h200, sim:h100x8, sim:FILE."

Model = Annotated[str, typer.Option(metavar="NAME", help=f"{MODEL_HELP}.")]
DEFAULT_MODEL = "tiny"
PresetModel = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help=f"{MODEL_HELP}; else the preset's own.",
    ),
]
Device = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help=DEVICE_HELP,
    ),
]
ScreenDevice = Annotated[
    str | None,
    typer.Option(
        "--device",
        metavar="NAME",
        help=DEVICE_HELP,
    ),
]
Dtype = Annotated[str, typer.Option(metavar="NAME", help="auto, float32, bfloat16 or float16.")]
LoadFormat = Annotated[str, typer.Option(metavar="NAME", help="auto, or dummy for random weights.")]
Attention = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="auto; or native (own kernel, CPU), triton (own kernel, CUDA; triton-tuned: in the"
        " tiles that are fastest here), varlen (torch's, CUDA), gather (anywhere).",
    ),
]
KvMemory = Annotated[
    float, typer.Option(metavar="GIB", min=0.0, help="For the KV cache; 0 decides itself.")
]
Threads = Annotated[int, typer.Option(metavar="N", min=0, help="Of the CPU; 0 decides itself.")]
EnforceEager = Annotated[
    bool, typer.Option("--enforce-eager", help="Launch every kernel anew: no CUDA graphs.")
]
Compile = Annotated[
    bool,
    typer.Option(
        "--compile",
        help="torch.compile the model: a slow start, faster passes on CUDA, slower on a CPU.",
    ),
]
Quantization = Annotated[
    str, typer.Option(metavar="NAME", help="Of the weights: none, or int8 (needs torchao).")
]
TensorParallel = Annotated[
    int,
    typer.Option(
        "--tensor-parallel", metavar="N", min=1, help="Processes, a device each, to share a model."
    ),
]
KvBlocks = Annotated[
    int | None, typer.Option(metavar="N", help="Blocks in the KV cache; 0 decides itself.")
]
Batcher = Annotated[str | None, typer.Option(metavar="NAME", help="static, dynamic or continuous.")]
Slots = Annotated[
    int | None, typer.Option(metavar="N", help="Requests that run at once, or make up a batch.")
]
Chunk = Annotated[
    int | None,
    typer.Option(metavar="N", help="Tokens of one prompt in a pass at most; 0 sets no limit."),
]
Deliver = Annotated[str | None, typer.Option(metavar="NAME", help="Answers: stream or batch.")]
AsyncScheduling = Annotated[
    bool | None,
    typer.Option(
        "--async-scheduling/--no-async-scheduling",
        help="Plan a pass while the one before runs; left out, on CUDA only.",
    ),
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KNOB=VALUE",
        help="Any setting of the engine, as scheduling_policy=priority; repeatable.",
    ),
]
Ascii = Annotated[bool, typer.Option("--ascii", help="Draw with ASCII alone.")]
ThemeName = Annotated[
    str | None,
    typer.Option(
        "--theme", metavar="NAME", help="dark, light or high-contrast; else the config file's."
    ),
]
Seed = Annotated[int | None, typer.Option(metavar="N", min=0, help="Of the traffic.")]
Pace = Annotated[
    float,
    typer.Option(
        metavar="FACTOR",
        min=0.0,
        max=1000.0,
        help="Stretches the time between arrivals; 0.5: twice as fast.",
    ),
]
Variants = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Only this engine of those that it compares; repeatable."),
]
FailIf = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CONDITION",
        help="Exit with 3 if a run comes to this, as 'ttft_p95_ms > 500'; repeatable.",
    ),
]
SloText = Annotated[
    str | None,
    typer.Option(
        metavar="OBJECTIVES",
        help="Exit with 3 unless met, as 'ttft_ms=500,tpot_ms=50,attainment=0.95', or preset.",
    ),
]
RecordFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Record the run; of several, each to a file with its name added."
    ),
]
TraceFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write a trace that Perfetto opens.")
]
ReportFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write a page with timelines and latencies.")
]
Profile = Annotated[
    bool, typer.Option("--profile", help="Tell where the host's time goes, phase by phase.")
]
ProfileDir = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="The same, and a torch profiler trace of some passes by run, in DIR."
    ),
]
RecordingFile = Annotated[
    Path, typer.Argument(metavar="RECORDING", help="A file that --record wrote, or a kept run.")
]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print every metric as CSV.")]
AsMarkdown = Annotated[bool, typer.Option("--markdown", help="Print a table for a document.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
PresetName = Annotated[
    str,
    typer.Argument(
        metavar="PRESET", help="A preset, or a file of one.", autocompletion=complete_preset
    ),
]
