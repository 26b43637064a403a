"""`Entry`: a recorded run as a list shows it, read without reading its events."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from engine.config import ConfigError
from engine.metrics.report import Number
from engine.recording import Recording
from engine.recording.header import Header, read_header

STAMP = "%Y%m%d-%H%M%S"
STAMP_LENGTH = len("20260101-120000")


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of the library.

    Attributes:
        when: it was kept, in local time; None where its name does not say.
        about: what its recording says of it.
        run: the numbers of its report, as `batchscope run --json` prints them; empty without one.
        size: of both files together, in bytes.
        problem: why it cannot be opened; empty if it can.
    """

    path: Path
    when: datetime | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    run: Mapping[str, Any] = field(default_factory=dict)
    size: int = 0
    problem: str = ""

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def preset(self) -> str:
        return str(self.about.get("preset") or self.name)

    @property
    def variant(self) -> str:
        return str(self.about.get("variant") or "")

    @property
    def batcher(self) -> str:
        return str(self.run.get("settings", {}).get("batcher", ""))

    @property
    def engine(self) -> str:
        """What ran: the variant or the batcher; each in turn, where it was changed meanwhile."""
        return str(self.run.get("course") or "") or self.variant or self.batcher

    @property
    def model(self) -> str:
        return str(self.run.get("info", {}).get("model") or self.about.get("model") or "")

    @property
    def device(self) -> str:
        return str(self.run.get("info", {}).get("device", ""))

    @property
    def is_simulated(self) -> bool:
        return bool(self.run.get("simulated", False))

    @property
    def is_undisturbed(self) -> bool:
        """Whether it is a run as its preset describes it, from its beginning to its end."""
        return self.about.get("doubts") == []

    def value(self, metric: str, label: str = "") -> Number:
        """A number of its report; None where there is none."""
        table = self.run.get("classes", {}).get(label) if label else self.run.get("overall")
        number = table.get(metric) if isinstance(table, dict) else None
        return number if isinstance(number, int | float) else None


def sidecar(path: Path) -> Path:
    """The file with the report of a recording."""
    return path.with_suffix(".json")


def read_entry(path: Path) -> Entry:
    """Look at a recording: its header, and the report beside it.

    Whatever is wrong with it is said in the entry, so that a list can be made of any folder.
    """
    size, run = 0, {}
    try:
        size = path.stat().st_size
        header = _read_header(path)
        run = _read_report(sidecar(path))
        size += sidecar(path).stat().st_size if run else 0
        if not run:
            Recording(path)  # a report can be made of it, if it can be read
    except ConfigError as error:
        return Entry(path, _when(path), size=size, problem=error.problem)
    except OSError as error:
        return Entry(path, _when(path), size=size, problem=f"cannot be read: {error.strerror}")
    return Entry(path, _when(path), header.about, run, size)


def _read_header(path: Path) -> Header:
    with path.open("rb") as file:
        return read_header(file.readline())


def _read_report(path: Path) -> dict[str, Any]:
    """The run in a report; empty where there is no such file, or not one of ours."""
    try:
        table = json.loads(path.read_text("utf-8"))
        run = table["runs"][0]
    except (OSError, ValueError, KeyError, IndexError, TypeError):
        return {}  # it is made anew when the run is opened
    is_ours = isinstance(run, dict) and all(
        isinstance(run.get(key), dict) for key in ("settings", "info", "overall", "classes")
    )
    return run if is_ours else {}


def _when(path: Path) -> datetime | None:
    try:
        return datetime.strptime(path.stem[:STAMP_LENGTH], STAMP)
    except ValueError:
        return None
