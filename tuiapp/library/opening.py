"""A run, ready to be reported: the one that the engine makes now, or one of the library."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from engine.config import ConfigError
from engine.events import EngineInfo, Event, Played
from engine.recording import Recording
from engine.settings import EngineSettings
from tuiapp.library.entry import read_entry
from tuiapp.library.excerpt import excerpt
from tuiapp.library.findings import Findings, measure
from tuiapp.library.library import Kept, Library
from tuiapp.library.subject import Subject, subject_of
from tuiapp.presets import Preset, find_preset
from tuiapp.running.recorded import recorded_slo
from tuiapp.session import Session


@dataclass(frozen=True, slots=True)
class Opened:
    """What a report screen shows.

    Attributes:
        events: of the run alone.
        findings: None where no request arrived.
        kept: where it lies; None where it is not kept, as before it is over.
        complaint: why it could not be kept.
    """

    events: tuple[Event, ...]
    findings: Findings | None
    kept: Kept | None = None
    complaint: str = ""

    @property
    def is_over(self) -> bool:
        return self.findings is not None and self.findings.subject.is_over


def open_live(session: Session, info: EngineInfo, library: Library | None) -> Opened:
    """Measure what plays, and keep it if it is over.

    Args:
        library: None keeps nothing.
    """
    playing = session.playing
    found = excerpt(session.backend.log, playing.position if playing else 0, info)
    is_over = any(isinstance(event, Played) for event in found.events)
    if playing:
        settings = _settings_at_first(found.events)
        variant = _variant(session, playing.preset, settings) if settings else ""
        subject = replace(subject_of(playing.preset, variant), speed=playing.speed)
    else:
        name = session.workload
        subject = Subject(title=name or "requests of your own", workload=name, is_over=False)
    is_watched = session.replay is None
    subject = replace(
        subject,
        is_over=is_over,
        is_whole=found.is_whole,
        is_watched=is_watched,
        spec=session.spec,
    )
    findings = measure(subject, found.events)
    if findings is None or library is None:
        return Opened(found.events, findings)
    findings = findings.beside(library.others(findings))
    if not is_over:
        return Opened(found.events, findings)
    try:
        kept = library.keep(findings, found.events, datetime.now())
    except ConfigError as error:
        return Opened(found.events, findings, complaint=str(error))
    return Opened(found.events, findings, kept)


def open_recorded(path: Path, library: Library | None) -> Opened:
    """Measure a recording; its report is written if it is in the library and has none.

    Raises:
        ConfigError: the recording is damaged.
    """
    recording = Recording(path)
    about, events = recording.header.about, tuple(recording.events())
    doubts = about.get("doubts")
    subject = Subject(
        title=str(about.get("title") or path.stem),
        preset=_find(str(about.get("preset"))),
        variant=str(about.get("variant") or ""),
        workload=str(about.get("preset") or ""),
        slo=recorded_slo(recording),
        is_over=recording.index.is_closed,
        seed=_whole(about.get("seed")),
        speed=1 / _positive(about.get("pace")),
        is_watched=about.get("watched") is True,
    )
    findings = measure(subject, events)
    if findings is None:
        return Opened(events, None, Kept(path))
    if isinstance(doubts, list) and doubts:
        findings = replace(findings, doubts=tuple(str(doubt) for doubt in doubts))
    if library is None:
        return Opened(events, findings, Kept(path))
    findings = findings.beside(library.others(findings))
    complaint = ""
    if path.parent == library.folder and not read_entry(path).run:
        try:
            library.keep_report(path, findings)
        except ConfigError as error:
            complaint = str(error)
    return Opened(events, findings, Kept(path), complaint)


def _settings_at_first(events: tuple[Event, ...]) -> EngineSettings | None:
    found = (getattr(event, "settings", None) for event in events)
    return next((each for each in found if isinstance(each, EngineSettings)), None)


def _variant(session: Session, preset: Preset, settings: EngineSettings) -> str:
    """Which of the engines that the preset compares has these settings; empty for none."""
    for variant in preset.variants:
        if _spell_out(session.settings_for(preset, variant.name)) == _spell_out(settings):
            return variant.name
    return ""


def _spell_out(settings: EngineSettings) -> EngineSettings:
    """The same settings with nothing left to what is usual."""
    return replace(settings, deliver=settings.delivery)


def _find(name: str) -> Preset | None:
    """The preset that was played, if it is still there."""
    try:
        return find_preset(name)
    except ConfigError:
        return None  # the numbers stand without its claims


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _positive(value: object) -> float:
    return float(value) if isinstance(value, int | float) and value > 0 else 1.0
