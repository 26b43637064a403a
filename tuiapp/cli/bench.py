"""The command that measures the engine: `bench`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tuiapp.cli.complaining import complaining
from tuiapp.cli.flags import AsJson, Attention, Dtype, LoadFormat, Model, RealDevice, Threads


def bench_command(
    model: Model = "tiny",
    device: RealDevice = "auto",
    dtype: Dtype = "auto",
    load_format: LoadFormat = "auto",
    attention: Attention = "auto",
    threads: Threads = 0,
    peer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=URL", help="A server with OpenAI's protocol to run beside; repeatable."
        ),
    ] = None,
    serve: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=COMMAND",
            help="Start such a server, with {port} {model} {dtype} {slots} {longest} filled in.",
        ),
    ] = None,
    vllm: Annotated[
        Path | None,
        typer.Option(metavar="PYTHON", help="Start vLLM from the environment of this interpreter."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Two minutes in place of ten.")] = False,
    requests: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Requests that all have to serve.")
    ] = None,
    slots: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Requests that run at once.")
    ] = None,
    as_json: AsJson = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the JSON too.")
    ] = None,
) -> None:
    """Measure this engine beside transformers and servers, and what each of its parts costs."""
    with complaining():
        from engine.runners.parts import ModelSpec
        from tuiapp.bench.command import bench
        from tuiapp.bench.request import BenchRequest, choose_effort, read_commands, read_peers

        spec = ModelSpec(
            model=model,
            device=device,
            dtype=dtype,
            load_format=load_format,
            attention=attention,
            num_threads=threads,
        )
        effort = choose_effort(is_quick=quick, num_requests=requests, num_slots=slots)
        peers = read_peers(tuple(peer or ()))
        commands = read_commands(tuple(serve or ()))
        bench(BenchRequest(spec, effort, peers, commands, vllm, output), as_json=as_json)
