"""The commands of recordings: `replay` and `rerun`."""

from __future__ import annotations

from typing import Annotated

import typer

from tuiapp.cli.complaining import complaining
from tuiapp.cli.flags import (
    MODEL,
    REPORT,
    Ascii,
    AsCsv,
    AsJson,
    AsMarkdown,
    AsyncScheduling,
    Batcher,
    Chunk,
    Deliver,
    FailIf,
    KvBlocks,
    RecordFile,
    RecordingFile,
    ReportFile,
    Sets,
    SloText,
    Slots,
    ThemeName,
    TraceFile,
)


def rerun_command(
    recording: RecordingFile,
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="In place of the one recorded.", rich_help_panel=MODEL),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="In place of the one recorded.", rich_help_panel=MODEL),
    ] = None,
    num_kv_blocks: KvBlocks = None,
    batcher: Batcher = None,
    slots: Slots = None,
    chunk: Chunk = None,
    deliver: Deliver = None,
    async_scheduling: AsyncScheduling = None,
    sets: Sets = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_markdown: AsMarkdown = False,
    fail_if: FailIf = None,
    slo: SloText = None,
    record: RecordFile = None,
    trace: TraceFile = None,
    report: ReportFile = None,
) -> None:
    """Run the arrivals of a recording again, under other settings, and compare.

    Prompts, sampling and times are those recorded; what users did meanwhile is not done again.
    """
    with complaining():
        from tuiapp.commands.compare import choose_form
        from tuiapp.commands.rerun import RerunRequest, rerun_and_report
        from tuiapp.commands.runs import find_recording
        from tuiapp.options import read_overrides
        from tuiapp.running.outputs import Outputs

        form = choose_form(as_json=as_json, as_csv=as_csv, as_markdown=as_markdown)
        named = {"model": model, "device": device}
        request = RerunRequest(
            path=find_recording(recording),
            spec={key: value for key, value in named.items() if value is not None},
            overrides=read_overrides(
                slots, chunk, num_kv_blocks, batcher, deliver, async_scheduling, sets or ()
            ),
            fail_if=tuple(fail_if or ()),
            slo=slo,
            outputs=Outputs(record, trace, report),
        )
        code = rerun_and_report(request, form)
    raise typer.Exit(code)


def replay_command(
    recording: RecordingFile,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_markdown: AsMarkdown = False,
    as_table: Annotated[
        bool,
        typer.Option(
            "--table",
            help="Print the numbers, as where there is no terminal.",
            rich_help_panel=REPORT,
        ),
    ] = False,
    trace: TraceFile = None,
    report: ReportFile = None,
    ascii_only: Ascii = False,
    theme: ThemeName = None,
) -> None:
    """Play a recording on the live screen, or print its numbers; no model is needed."""
    with complaining():
        from tuiapp.cli.terminal import is_terminal
        from tuiapp.commands.compare import choose_form
        from tuiapp.commands.replay import report_recording
        from tuiapp.commands.runs import find_recording
        from tuiapp.running.outputs import Outputs

        recording = find_recording(recording)
        is_report = as_json or as_csv or as_markdown or as_table or trace or report
        if is_report or not is_terminal():
            form = choose_form(as_json=as_json, as_csv=as_csv, as_markdown=as_markdown)
            code = report_recording(recording, form, Outputs(None, trace, report))
        else:
            from tuiapp.preferred import read_own
            from tuiapp.replay_screen import open_replay

            code = open_replay(recording, read_own(theme=theme, ascii_only=ascii_only))
    raise typer.Exit(code)
