"""The commands that look at what there is: `shot` and `runs`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tuiapp.cli.complaining import complaining
from tuiapp.cli.flags import (
    MODEL,
    RUNS,
    AsJson,
    AsyncScheduling,
    Batcher,
    Chunk,
    Deliver,
    KvBlocks,
    PresetModel,
    Sets,
    Slots,
)

SIM = "sim:linear"
SCREENS = (  # those of `tuiapp.shot.views`, which would bring Textual along
    *("live", "attack", "commands", "compare", "ghost", "help", "inject", "inspect", "jump"),
    *("knobs", "lanes", "lesson", "lessons", "picker", "profile", "report", "runs", "utilisation"),
)


def shot_command(
    source: Annotated[
        str,
        typer.Argument(metavar="PRESET|RECORDING", help="A preset, or a file of one or of a run."),
    ],
    at: Annotated[
        str | None,
        typer.Option(metavar="PASS|SECONDSs", help="When: 196 passes, or 3.5s; else pass 200."),
    ] = None,
    screen: Annotated[
        str, typer.Option(metavar="NAME", help=f"One of {', '.join(SCREENS)}.")
    ] = "live",
    size: Annotated[
        str, typer.Option(metavar="WIDTHxHEIGHT", help="In columns and lines.")
    ] = "120x36",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="x.svg or x.txt; none prints text."),
    ] = None,
    theme: Annotated[str, typer.Option(metavar="NAME", help="dark, light or high-contrast.")] = "",
    ascii_only: Annotated[bool, typer.Option("--ascii", help="Draw with ASCII alone.")] = False,
    variant: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="One of the engines that it compares; else the preset's own.",
            rich_help_panel=RUNS,
        ),
    ] = None,
    model: PresetModel = None,
    device: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="sim:linear, sim:h200, …; cpu gives real text.",
            rich_help_panel=MODEL,
        ),
    ] = SIM,
    num_kv_blocks: KvBlocks = None,
    batcher: Batcher = None,
    slots: Slots = None,
    chunk: Chunk = None,
    deliver: Deliver = None,
    async_scheduling: AsyncScheduling = None,
    sets: Sets = None,
) -> None:
    """Take a picture of a screen; the same command gives the same bytes.

    What is compared (compare, ghost, lanes) runs to its end, and --at 3.5s shows that moment of
    all lanes. The screen `runs` shows the runs that you have kept.

    Times are simulated, also where a model really runs (--device cpu): they come from the linear
    cost model. Those of a recording are what was recorded.
    """
    with complaining():
        from tuiapp.commands.shot import ShotRequest, take_and_write
        from tuiapp.options import read_overrides

        take_and_write(
            ShotRequest(
                source=source,
                at=at,
                screen=screen,
                size=size,
                theme=theme,
                ascii_only=ascii_only,
                output=output,
                variant=variant,
                model=model,
                device=device,
                overrides=read_overrides(
                    slots, chunk, num_kv_blocks, batcher, deliver, async_scheduling, sets or ()
                ),
            )
        )


def runs_command(context: typer.Context, as_json: AsJson = False) -> None:
    """List the runs that were kept: every preset that the screen played to its end."""
    if not context.invoked_subcommand:
        from tuiapp.commands.runs import list_runs

        list_runs(as_json=as_json)


def delete_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="As `batchscope runs` lists it.")],
) -> None:
    """Delete a kept run and its report."""
    with complaining():
        from tuiapp.commands.runs import delete_run

        delete_run(name)
