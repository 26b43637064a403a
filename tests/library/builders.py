"""Runs of a small preset on a toy engine, ready to be kept."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from engine.events import Event
from tests.tui.stage import StageBackend
from tuiapp.library.findings import Findings
from tuiapp.library.library import Kept, Library
from tuiapp.library.opening import Opened, open_live
from tuiapp.presets import Preset, read_preset
from tuiapp.session import Session

PRESETS = Path(__file__).parents[1] / "tui" / "presets"
WHEN = datetime(2026, 5, 4, 12, 30, 15)


def straggler() -> Preset:
    return read_preset(PRESETS / "straggler.toml")


def play(
    variant: str | None = None, num_passes: int = 100_000, backend: StageBackend | None = None
) -> tuple[Session, StageBackend]:
    """Play the straggler on a stage."""
    backend = backend or StageBackend(num_kv_blocks=4096)
    session = Session(backend, backend.core.settings, seed=7)
    session.play_preset(straggler(), variant)
    backend.run(num_passes)
    return session, backend


def opened(
    variant: str | None = None, num_passes: int = 100_000, library: Library | None = None
) -> Opened:
    session, backend = play(variant, num_passes)
    return open_live(session, backend.core.info, library)


def findings_of(variant: str | None = None) -> tuple[Findings, tuple[Event, ...]]:
    found = opened(variant)
    assert found.findings
    return found.findings, found.events


def keep(library: Library, variant: str | None = None, when: datetime = WHEN) -> Kept:
    findings, events = findings_of(variant)
    return library.keep(findings, events, when)
