"""The command line. Heavy imports wait until a command needs them, so that help is instant.

Exit codes: 0 done, 1 a run failed, 2 what was asked for cannot be, 3 a run missed what --fail-if or
--slo ask of it, 130 interrupted.
"""

from __future__ import annotations

from collections.abc import Callable

import typer

from engine.collector import collect_seldom
from tuiapp.cli.bare_help import BareCommand, BareGroup
from tuiapp.cli.bench import bench_command
from tuiapp.cli.calibrate import calibrate_command
from tuiapp.cli.config import config_command
from tuiapp.cli.looks import delete_command, runs_command, shot_command
from tuiapp.cli.presets import (
    check_command,
    import_command,
    list_command,
    locate_command,
    new_command,
    show_command,
)
from tuiapp.cli.recordings import replay_command, rerun_command
from tuiapp.cli.runs import compare_command, run_command
from tuiapp.cli.screen import screen_command
from tuiapp.cli.shows import demo_command, serve_command
from tuiapp.cli.streams import bearing_streams

RUN, KEPT = "Run and measure, without a screen", "Presets and recordings"  # panels of the help
SHOW, HERE = "Show to others", "On this machine"

app = typer.Typer(
    cls=BareGroup,
    help="See LLM inference batching happen, live, on a real engine in this process.",
    epilog="Try: batchscope, then press 1, 2 and 3. Or: batchscope run straggler --device sim",
    no_args_is_help=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
presets_app = typer.Typer(cls=BareGroup, help="List presets; begin, show and check one.")
app.add_typer(presets_app, name="presets", rich_help_panel=KEPT)
runs_app = typer.Typer(cls=BareGroup, help="List the runs that were kept, or delete one.")
app.add_typer(runs_app, name="runs", rich_help_panel=KEPT)
app.callback(invoke_without_command=True)(screen_command)
presets_app.callback(invoke_without_command=True)(list_command)
runs_app.callback(invoke_without_command=True)(runs_command)


def _add(
    parent: typer.Typer,
    name: str,
    command: Callable[..., None],
    panel: str | None = None,
    **context: bool,
) -> None:
    parent.command(name, cls=BareCommand, rich_help_panel=panel, context_settings=context)(command)


_add(app, "run", run_command, RUN)
_add(app, "compare", compare_command, RUN)
_add(app, "rerun", rerun_command, RUN)
_add(app, "bench", bench_command, RUN)
_add(app, "calibrate", calibrate_command, RUN)
_add(app, "import", import_command, KEPT)
_add(app, "replay", replay_command, KEPT)
_add(app, "shot", shot_command, SHOW)
_add(app, "demo", demo_command, SHOW)
_add(app, "serve", serve_command, SHOW, allow_extra_args=True)
_add(app, "config", config_command, HERE)
_add(app, "locate", locate_command, HERE)
_add(presets_app, "new", new_command)
_add(presets_app, "show", show_command)
_add(presets_app, "check", check_command)
_add(runs_app, "delete", delete_command)


def main() -> None:
    """Run the command line."""
    collect_seldom()
    with bearing_streams():
        app()
