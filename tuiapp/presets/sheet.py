"""`Sheet`: a preset file as it stands, and the requests that it draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

from engine.actions import Action, Note
from engine.checks import require
from engine.config import ConfigError, KeyPath, construct
from engine.generate.clients import Clients
from engine.generate.draft import Draft
from engine.generate.phases import Phase, Tempo
from engine.generate.recorded import Reading, Recorded
from engine.generate.traffic import RequestClass, SingleRequest
from engine.metrics import Slo
from tuiapp.presets.schema import About, Claim
from tuiapp.presets.timed import TimedAction

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Drawn:
    """The requests of a preset for a seed.

    Attributes:
        drafts: by arrival; those that wait for an answer come last, in the order of their turns.
        readings: what its traces gave, by their names.
    """

    drafts: tuple[Draft, ...]
    readings: Mapping[str, Reading]

    @property
    def notices(self) -> tuple[str, ...]:
        """What the user has to know of them."""
        return tuple(each.notice for each in self.readings.values() if each.notice)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A preset file.

    Attributes:
        schema: version of this schema.
        engine: fields of `EngineSettings` to set, and `model`.
        compare: for each variant its `name`, and fields of `EngineSettings` to change.
    """

    schema: int
    preset: About
    engine: Mapping[str, Any] = field(default_factory=dict)
    compare: tuple[Mapping[str, Any], ...] = ()
    classes: tuple[RequestClass, ...] = field(default=(), metadata={"key": "class"})
    clients: tuple[Clients, ...] = ()
    traces: tuple[Recorded, ...] = field(default=(), metadata={"key": "trace"})
    singles: tuple[SingleRequest, ...] = field(default=(), metadata={"key": "request"})
    phases: tuple[Phase, ...] = field(default=(), metadata={"key": "phase"})
    timed: tuple[TimedAction, ...] = field(default=(), metadata={"key": "action"})
    slo: Slo = field(default_factory=Slo)
    claims: tuple[Claim, ...] = field(default=(), metadata={"key": "claim"})

    def __post_init__(self) -> None:
        require(self.schema == SCHEMA, f"schema must be {SCHEMA}, got {self.schema}")
        sources = "a [[class]], [[clients]], [[trace]] or [[request]]"
        require(bool(self.labels), f"no requests: {sources} is needed")
        Tempo(self.phases)

    @property
    def labels(self) -> tuple[str, ...]:
        """What requests are labelled: classes, clients, traces, single requests."""
        return (
            *(each.name for each in self.classes),
            *(each.name for each in self.clients),
            *(each.name for each in self.traces),
            *(single.label for single in self.singles),
        )

    def until(self, pace: float = 1.0) -> float:
        """Seconds after which nobody asks; infinite for no such moment.

        Args:
            pace: what times are multiplied by, beside the preset's own.
        """
        limit = self.preset.max_seconds
        return inf if limit is None else limit * self.preset.fixed_pace * pace

    def actions(self, seed: int, pace: float = 1.0) -> list[Action]:
        """What happens beside requests: timed actions, and the labels of phases.

        Args:
            pace: what times are multiplied by, beside the preset's own.
        """
        pace *= self.preset.fixed_pace
        actions = [each.action(pace, seed) for each in self.timed]
        begins = [Note(each.from_s * pace, each.label) for each in self.phases if each.label]
        return [*actions, *begins]

    def draw(self, seed: int, folders: Sequence[Path] = (Path(),), context: int = 0) -> Drawn:
        """Draw the requests.

        Args:
            folders: where paths begin; a text's is in the first, a trace's in any.
            context: prompt and output of a trace together at most; 0 for no such bound.

        Raises:
            ConfigError: a class cannot be drawn, or a file not be read.
        """
        readings = self._read(seed, folders, context)
        drafts = [
            *self._draw_classes(seed, folders[0]),
            *self._draw_clients(seed, folders[0]),
            *(draft for reading in readings.values() for draft in reading.drafts),
            *self._draw_singles(),
        ]
        drafts.sort(key=lambda draft: inf if draft.follows else draft.arrival)
        limit = self.preset.max_seconds
        timely = [draft for draft in drafts if limit is None or draft.arrival <= limit]
        chosen = _without_orphans(timely[: self.preset.max_requests])
        pace = self.preset.fixed_pace
        return Drawn(tuple(draft.paced(pace) for draft in chosen), readings)

    def _draw_classes(self, seed: int, folder: Path) -> list[Draft]:
        tempo = Tempo(self.phases)
        drafts: list[Draft] = []
        for index, each in enumerate(self.classes):
            make = partial(each.drafts, tempo=tempo, folder=folder)
            drafts += construct(make, {"seed": seed}, ("class", index))
        return drafts

    def _draw_clients(self, seed: int, folder: Path) -> list[Draft]:
        drafts: list[Draft] = []
        for index, each in enumerate(self.clients):
            make = partial(each.drafts, folder=folder)
            drafts += construct(make, {"seed": seed}, ("clients", index))
        return drafts

    def _read(self, seed: int, folders: Sequence[Path], context: int) -> dict[str, Reading]:
        readings = {}
        for index, each in enumerate(self.traces):
            read = partial(each.read, folders=folders, context=context)
            readings[each.name] = _at(("trace", index), read, seed)
        return readings

    def _draw_singles(self) -> list[Draft]:
        newest: dict[str, str] = {}
        drafts = []
        for single in self.singles:
            drafts.append(single.draft(follows=newest.get(single.session, "")))
            if single.session:
                newest[single.session] = single.label
        return drafts


def _at(path: KeyPath, read: partial[Reading], seed: int) -> Reading:
    """Read a trace; an error says which table asked for it."""
    try:
        return construct(read, {"seed": seed}, path)
    except ConfigError as error:
        raise ConfigError(error.problem, (*path, *error.path), error.place) from error


def _without_orphans(drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts but for those that would wait for the answer to one that is not there."""
    kept: list[Draft] = []
    names: set[str] = set()
    for draft in drafts:
        if not draft.follows or draft.follows in names:
            kept.append(draft)
            names.add(draft.id)
    return kept
