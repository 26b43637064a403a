"""`Library`: the folder of the runs that were kept, bounded in size."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from platformdirs import user_data_path

from engine.config import ConfigError
from engine.events import Checkpoint, Event
from engine.recording import RecordingWriter
from tuiapp.library.entry import STAMP, Entry, read_entry, sidecar
from tuiapp.library.findings import Findings
from tuiapp.reports.as_json import dump, study_to_json
from tuiapp.running.verdicts import Measured
from tuiapp.writing import make_folder, write_file

MAX_BYTES = 500 * 2**20
SUFFIX = ".jsonl"
STAMPED = re.compile(r"\d{8}-\d{6}")


def runs_folder() -> Path:
    """Where the user's runs are kept; it need not exist."""
    return user_data_path("batchscope", appauthor=False) / "runs"


@dataclass(frozen=True, slots=True)
class Kept:
    """A run that was written down.

    Attributes:
        pruned: names of the oldest runs, which were deleted to make room.
    """

    path: Path
    pruned: tuple[str, ...] = ()


class Library:
    """Recordings with their reports, named by time, preset and engine.

    Args:
        max_bytes: beyond, the oldest are deleted; the newest one always stays.
    """

    def __init__(self, folder: Path, max_bytes: int = MAX_BYTES) -> None:
        self.folder = folder
        self._max_bytes = max_bytes

    def entries(self) -> list[Entry]:
        """All that is there, the newest first; also what cannot be opened, with the reason."""
        return [read_entry(path) for path in self._paths()]

    def keep(self, findings: Findings, events: Sequence[Event], when: datetime) -> Kept:
        """Write a run down, and make room for it.

        Args:
            events: as they were measured.

        Raises:
            ConfigError: it cannot be written.
        """
        path = self._free_path(findings, when)
        make_folder(self.folder)
        writer = RecordingWriter(path, findings.about())
        try:
            writer.write(event for event in events if not isinstance(event, Checkpoint))
        finally:
            writer.close()
        self.keep_report(path, findings)
        return Kept(path, self._prune(path))

    def keep_report(self, path: Path, findings: Findings) -> None:
        """Write the numbers beside a recording, so that lists need not read it.

        Raises:
            ConfigError: they cannot be written.
        """
        write_file(sidecar(path), dump(study_to_json(findings.study)))

    def delete(self, path: Path) -> None:
        """Delete a recording and its report.

        Raises:
            ConfigError: it cannot be deleted.
        """
        try:
            path.unlink(missing_ok=True)
            sidecar(path).unlink(missing_ok=True)
        except OSError as error:
            raise ConfigError(f"cannot be deleted: {error.strerror}", place=str(path)) from None

    def find(self, name: str) -> Path | None:
        """The recording of that name, if there is one."""
        path = self.folder / f"{name}{SUFFIX}"
        return path if path.is_file() else None

    def others(self, findings: Findings) -> dict[str, Measured]:
        """The newest whole runs of the same requests under the other engines, by variant."""
        found: dict[str, Measured] = {}
        for entry in self.entries():
            if entry.variant != findings.subject.variant and _is_like(entry, findings):
                found.setdefault(entry.variant, entry)
        return found

    def _paths(self) -> list[Path]:
        """The newest first; a folder or a pipe with such a name is no run."""
        paths = self.folder.glob(f"*{SUFFIX}")
        return _newest_first(path for path in paths if path.is_file())

    def _free_path(self, findings: Findings, when: datetime) -> Path:
        name = findings.outcome.name
        parts = (when.strftime(STAMP), findings.study.name, name)
        stem = "-".join(re.sub(r"[^\w.-]+", "-", part) for part in parts)
        number = 1
        while (
            path := self.folder / f"{stem}{f'-{number}' if number > 1 else ''}{SUFFIX}"
        ).exists():
            number += 1
        return path

    def _prune(self, newest: Path) -> tuple[str, ...]:
        """Delete the oldest recordings of ours until the rest fits."""
        paths = self._paths()
        sizes = {path: _size(path) for path in paths}
        total, pruned = sum(sizes.values()), []
        for path in reversed(paths):
            if total <= self._max_bytes:
                break
            if path != newest and not read_entry(path).problem:
                self.delete(path)
                total -= sizes[path]
                pruned.append(path.stem)
        return tuple(pruned)


def _is_like(entry: Entry, findings: Findings) -> bool:
    """Whether an earlier run is a whole one of the same requests on the same device."""
    info, study = findings.outcome.info, findings.study
    is_same = (entry.preset, entry.about.get("seed")) == (study.name, study.seed)
    where = (entry.model, entry.device, entry.is_simulated)
    is_usable = entry.is_undisturbed and bool(entry.run) and not entry.problem
    return is_usable and is_same and where == (info.model, info.device, info.is_simulated)


def _newest_first(paths: Iterable[Path]) -> list[Path]:
    """By name, which begins with the time; files with other names come last."""
    return sorted(paths, key=lambda path: (bool(STAMPED.match(path.stem)), path.stem), reverse=True)


def _size(path: Path) -> int:
    return sum(each.stat().st_size for each in (path, sidecar(path)) if each.exists())
