"""`Dialect`: what another system calls our settings, and how to start it with them.

The names are data, in `dialects.toml`; each system there names the version and the public page
that its names were checked against.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from engine.checks import require
from engine.config import build
from engine.settings import EngineSettings
from tuiapp.knobs.knob import AUTO, NOTHING, list_knobs, matters, show_value

FILE = Path(__file__).parent / "dialects.toml"
ABSENT = "not available there"
OFF = ("off", "fcfs", "decode-first", "preempt-newest")  # what asks for nothing out of the common
PLACES = {
    "option": "",
    "file": "",
    "request": "in each request",
    "python": "in Python",
    "environment": "in the environment",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One of our settings in another system's words.

    Attributes:
        write: an option or a line; what stands in braces is filled in (see `_numbers`).
        by_value: the same where it depends on our value; a value that is absent cannot be had.
        place: where it is written: on the command line, in the system's file, in each request,
            in Python, or in the environment.
        group: the table of the file that the line belongs to, with those around it:
            `outer.inner`.
        note: how it differs from ours.
        zero: our 0 is a value like others, and does not mean `decide yourself`.
    """

    write: str = ""
    by_value: Mapping[str, str] = field(default_factory=dict)
    place: str = "option"
    group: str = ""
    note: str = ""
    zero: bool = False

    def __post_init__(self) -> None:
        known = self.place in PLACES
        require(known, f"place must be one of {', '.join(PLACES)}, got {self.place!r}")

    @property
    def name(self) -> str:
        """What it is called there; empty where nothing is written for it."""
        forms = [self.write] if self.write else [form for form in self.by_value.values() if form]
        return " / ".join(dict.fromkeys(map(_head, forms)))

    def form(self, value: str) -> str | None:
        """What is written for a value; empty if it goes without saying, None if impossible."""
        if self.by_value:
            return self.by_value.get(value)
        return "" if value in (AUTO, NOTHING) or (value == "0" and not self.zero) else self.write


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One system's words.

    Attributes:
        version, source: what the words were checked against.
        command: starts a server there.
        file: the file that holds some of its settings; empty where there is none.
        file_option: what the command line needs so that the file is read.
        opens, closes: around the lines of a group in that file.
        terms: by the name of our setting; an absent one is not available there.
    """

    name: str
    version: str
    source: str
    command: str
    file: str = ""
    file_option: str = ""
    opens: str = "{group}:"
    closes: str = ""
    terms: Mapping[str, Term] = field(metadata={"key": "setting"})

    def explain(self, knob: str, settings: EngineSettings) -> str:
        """What our setting is called there, with its value; for one line of the panel."""
        term = self.terms.get(knob)
        if term is None:
            return ABSENT
        form = term.form(show_value(getattr(settings, knob)))
        written = term.name if form == "" else ABSENT if form is None else fill(form, settings)
        where = f"in {self.file}" if term.place == "file" else PLACES[term.place]
        place = f", {where}" if where and written and form is not None else ""
        return "; ".join(part for part in (written + place, term.note) if part)

    def write_command(self, settings: EngineSettings) -> str:
        """The command line, the file beside it and, as comments, what neither of them can say."""
        written = _Written()
        for knob in list_knobs():
            if matters(settings, knob.name):
                value = show_value(getattr(settings, knob.name))
                written.add(knob.name, value, self.terms.get(knob.name), settings)
        lines = written.file.write(self.opens, self.closes)
        options = [self.command, *written.options]
        if lines and self.file_option:
            options.append(self.file_option)
        heading = [f"# {self.file}"] if lines else []
        return "\n".join([" ".join(options), *heading, *lines, *written.comments])


@dataclass(slots=True)
class _Table:
    """A file's lines, and the tables in it."""

    lines: list[str] = field(default_factory=list)
    tables: dict[str, _Table] = field(default_factory=dict)

    def at(self, group: str) -> _Table:
        """The table `outer.inner`, which begins empty."""
        table = self
        for name in filter(None, group.split(".")):
            table = table.tables.setdefault(name, _Table())
        return table

    def write(self, opens: str, closes: str) -> list[str]:
        """All lines, those of a table between what opens and what closes it."""
        lines = [*self.lines]
        for name, table in self.tables.items():
            inner = [f"  {line}" for line in table.write(opens, closes)]
            lines += [opens.replace("{group}", name), *inner, *filter(None, [closes])]
        return lines


@dataclass(slots=True)
class _Written:
    """What goes where."""

    options: list[str] = field(default_factory=list)
    file: _Table = field(default_factory=_Table)
    comments: list[str] = field(default_factory=list)

    def add(self, name: str, value: str, term: Term | None, settings: EngineSettings) -> None:
        """Write one of our settings."""
        form = term.form(value) if term else None
        if term is None or form is None:
            if value not in (AUTO, "0", NOTHING) and (term or value not in OFF):
                self.comments.append(f"# {ABSENT}: {name} = {value}")
        elif form and term.place == "option":
            self.options.append(fill(form, settings))
        elif form and term.place == "file":
            self.file.at(term.group).lines.append(fill(form, settings))
        elif form:
            self.comments.append(f"# {PLACES[term.place]}: {fill(form, settings)}")


@dataclass(frozen=True, slots=True)
class _Book:
    dialects: tuple[Dialect, ...] = field(metadata={"key": "dialect"})


def read_dialects(path: Path = FILE) -> tuple[Dialect, ...]:
    """The systems whose words are known, in the order of the file.

    Raises:
        ConfigError: the file is wrong.
    """
    table = tomllib.loads(path.read_text("utf-8"))
    for dialect in table["dialect"]:
        dialect["setting"] = {
            name: build(Term, term, path.name, ("setting", name))
            for name, term in dialect["setting"].items()
        }
    return build(_Book, table, path.name).dialects


def fill(form: str, settings: EngineSettings) -> str:
    """A form with the numbers of the settings in it."""
    for key, number in _numbers(settings).items():
        form = form.replace("{" + key + "}", number)
    return form


def _numbers(settings: EngineSettings) -> dict[str, str]:
    """Every setting by its name, and what others count in other units."""
    named = {knob.name: show_value(getattr(settings, knob.name)) for knob in list_knobs()}
    return named | {
        "cache_tokens": str(settings.num_kv_blocks * settings.block_size),
        "delay_us": str(round(settings.max_queue_delay_ms * 1000)),
        "timeout_us": str(round(settings.default_queue_timeout_ms * 1000)),
    }


def _head(form: str) -> str:
    """What a form is called without its value."""
    if form.startswith("-"):
        return form.split()[0]
    return form.split(": ")[0].split("={")[0]
