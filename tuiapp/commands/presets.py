"""`batchscope presets` and `batchscope locate`: what there is, and where."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import typer
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from engine.config import ConfigError
from engine.generate.draft import Draft
from engine.hardware.devices import device_folder
from engine.metrics import Spread
from tuiapp.counting import counted
from tuiapp.library.library import runs_folder
from tuiapp.preferences import config_path
from tuiapp.presets import Claim, Preset, find_preset, list_presets
from tuiapp.presets.files import NAME, SUFFIX, shipped_folder, trace_folder, user_folder
from tuiapp.reports.as_json import dump, error_to_json, preset_to_json
from tuiapp.text import clean, one_line
from tuiapp.writing import make_folder, write_file


def list_and_print(*, as_json: bool) -> int:
    """Print every preset, and what is wrong with those that cannot be read.

    Returns:
        The exit code: 0, or 2 where one cannot be read.
    """
    shelf = list_presets()
    if as_json:
        presets = [preset_to_json(preset) for preset in shelf.presets]
        errors = [error_to_json(error) for error in shelf.errors]
        typer.echo(dump({"presets": presets, "errors": errors}))
    else:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for title in ("preset", "story", "requests", "compares"):
            table.add_column(title, justify="right" if title == "requests" else "left")
        for preset in shelf.presets:
            table.add_row(*_cells(preset))
        Console().print(table)
        _complain(shelf.errors)
    return 2 if shelf.errors else 0


def show(preset: Preset, *, as_json: bool) -> None:
    """Print one preset."""
    if as_json:
        typer.echo(dump(preset_to_json(preset)))
        return
    about = preset.about
    console = Console()
    console.print(Text(clean(about.title), style="bold"))
    console.print(Text(one_line(about.summary)))
    for heading, lines in (
        ("Watch", about.watch),
        ("Traffic", _traffic(preset)),
        ("Compares", [variant.name for variant in preset.variants]),
        ("Claims", [_claim(claim) for claim in preset.claims]),
        ("From", [about.source] if about.source else []),
        ("Recorded", _remarks(preset)),
        ("File", [str(preset.path)]),
    ):
        if lines:
            console.print(Text(f"\n{heading}", style="bold"))
        for line in lines:
            console.print(Padding(Text(one_line(line)), (0, 0, 0, 2)))


def check(names: Sequence[str]) -> bool:
    """Read presets, by name or file, print what is wrong; return whether nothing is."""
    errors = []
    for name in names:
        try:
            preset = find_preset(name)
        except ConfigError as error:
            errors.append(error)
        else:
            typer.echo(one_line(f"{name}: {counted(len(preset.drafts), 'request')}, nothing wrong"))
            for line in _remarks(preset):
                typer.echo(one_line(f"  {line}"))
    _complain(errors)
    return not errors


def make_new(name: str, output: Path | None) -> None:
    """Write the template of a preset; print where it is, and on stderr what comes next.

    Args:
        output: the file; None is one of that name in the user's own folder.

    Raises:
        ConfigError: the name cannot be or is taken, or the file cannot be written.
    """
    if not NAME.fullmatch(name):
        raise ConfigError(f"must be of letters, digits, - and _, got {name!r}", place="NAME")
    if (shipped_folder() / f"{name}{SUFFIX}").exists():
        problem = f"{name!r} comes with batchscope and would be hidden; choose another name"
        raise ConfigError(problem, place="NAME")
    path = output or user_folder() / f"{name}{SUFFIX}"
    if path.name != f"{name}{SUFFIX}":
        raise ConfigError(f"must be called {name}{SUFFIX}, got {path.name!r}", place="--output")
    if path.exists():
        raise ConfigError("is there already; choose another name", place=str(path))
    template = files("tuiapp.presets") / "template.toml"
    make_folder(path.parent)
    write_file(path, template.read_text("utf-8").replace("NAME", name, 1))
    typer.echo(str(path))
    say_what_next(path)


def say_what_next(path: Path) -> None:
    """Print on stderr the commands that take a new preset, by its name where that suffices."""
    is_own = path.parent.absolute() == user_folder().absolute()
    called = path.stem if is_own else shlex.quote(str(path))
    for line in (
        "what comes next:",
        f"  batchscope presets check {called}",
        f"  batchscope --preset {called}",
        f"  batchscope compare {called}",
    ):
        typer.echo(line, err=True)


def locate() -> None:
    """Print where things lie; a folder of the user's own need not exist."""
    package = Path(str(files("engine")))
    for what, where in (
        ("program", Path(__file__).parent),
        ("engine", package),
        ("shipped model", package / "models" / "tiny"),
        ("presets", shipped_folder()),
        ("your config", config_path()),
        ("your presets", user_folder()),
        ("your traces", trace_folder()),
        ("your devices", device_folder()),
        ("your runs", runs_folder()),
    ):
        typer.echo(f"{what:<15}{where}")


def _remarks(preset: Preset) -> list[str]:
    """What became of the rows of its traces, and which of them are not there."""
    tallies = [each.tally for each in preset.drawn.readings.values() if each.tally]
    return [*preset.notices, *(line for tally in tallies for line in tally.lines())]


def _cells(preset: Preset) -> tuple[Text, ...]:
    variants = ", ".join(variant.name for variant in preset.variants)
    parts = (preset.name, preset.about.title, str(len(preset.drafts)), variants)
    return tuple(Text(one_line(part)) for part in parts)


def _claim(claim: Claim) -> str:
    """A claim, with what a simulation gave."""
    if not claim.simulated:
        return claim.text
    figures = " against ".join(f"{figure:,.4g}" for figure in claim.simulated)
    return f"{claim.text} ({claim.metric}, simulated: {figures})"


def _traffic(preset: Preset) -> list[str]:
    """Every class in a line: how many, when, and how long."""
    lines = []
    for label in preset.labels:
        drafts = [draft for draft in preset.drafts if draft.label == label]
        if not drafts:
            continue
        prompts = _lengths([draft.num_prompt_tokens for draft in drafts])
        outputs = _lengths([draft.num_output_tokens for draft in drafts])
        lines.append(
            f"{label}: {len(drafts)} {_when(drafts)}, prompts {prompts}, outputs {outputs} tokens"
        )
    return lines


def _when(drafts: Sequence[Draft]) -> str:
    """When they come; what waits for an answer has no time of its own."""
    times = [draft.arrival for draft in drafts if not draft.follows]
    num_following = len(drafts) - len(times)
    if not times:
        return "each after an answer"
    first, last = min(times), max(times)
    when = f"at {first:g} s" if first == last else f"from {first:.1f} to {last:.1f} s"
    return f"{when}, {num_following} of them after an answer" if num_following else when


def _lengths(lengths: Sequence[int | None]) -> str:
    """How long; a text has as many tokens as the tokenizer says."""
    known = [length for length in lengths if length is not None]
    if len(known) < len(lengths):
        return "of text"
    spread = Spread.of(known)
    if spread is None or min(known) == max(known):
        return str(known[0])
    return f"{min(known)} to {max(known)} (mean {spread.mean:.0f})"


def _complain(errors: Sequence[ConfigError]) -> None:
    for error in errors:
        typer.echo(one_line(str(error)), err=True)
