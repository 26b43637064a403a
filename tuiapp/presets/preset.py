"""`Preset`: a workload, the settings to compare it under, and what that should show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from engine.actions import Note
from engine.config import ConfigError, KeyPath, construct, suggest
from engine.generate.draft import Draft
from engine.generate.script import Ask, Script
from engine.generate.write import write
from engine.metrics import Slo
from engine.prompts import PromptMaker
from engine.request import Request
from engine.settings import EngineSettings
from tuiapp.presets.schema import About, Claim, Variant
from tuiapp.presets.sheet import Drawn, Sheet
from tuiapp.presets.timed import Do


@dataclass(frozen=True, slots=True)
class Preset:
    """One story, as read from a file.

    Attributes:
        engine: the fields of `EngineSettings` that it sets, and their values.
        model: the one to run, where the user names none; None for the shipped one.
        variants: the engines to compare, in order; perhaps none.
        folders: where files that it names may lie.
        drawn: its requests, for the seed that it names.
    """

    sheet: Sheet
    engine: Mapping[str, Any]
    model: str | None
    variants: tuple[Variant, ...]
    path: Path
    folders: tuple[Path, ...]
    drawn: Drawn

    @property
    def name(self) -> str:
        return self.sheet.preset.id

    @property
    def drafts(self) -> tuple[Draft, ...]:
        """Its requests by arrival, for the seed that it names."""
        return self.drawn.drafts

    @property
    def notices(self) -> tuple[str, ...]:
        """What the user has to know, such as that a trace is not there."""
        return self.drawn.notices

    @property
    def about(self) -> About:
        """Title, summary, what to watch."""
        return self.sheet.preset

    @property
    def claims(self) -> tuple[Claim, ...]:
        return self.sheet.claims

    @property
    def slo(self) -> Slo:
        return self.sheet.slo

    @property
    def labels(self) -> tuple[str, ...]:
        """What its requests are labelled, in the order of the file."""
        return self.sheet.labels

    @property
    def num_changes(self) -> int:
        """How often it turns knobs while it runs."""
        return sum(action.do is Do.SET for action in self.sheet.timed)

    def settings(
        self, variant: str | None = None, base: EngineSettings | None = None
    ) -> EngineSettings:
        """The settings to run under: `base`, changed by the preset, changed by the variant.

        Raises:
            ConfigError: there is no such variant, or the settings do not go together.
        """
        changes = dict(self.engine)
        path: KeyPath = ("engine",)
        if variant is not None:
            found = self.find_variant(variant)
            path = ("compare", self.variants.index(found))
            changes |= found.changes
        return construct(partial(replace, base or EngineSettings()), changes, path)

    def find_variant(self, name: str) -> Variant:
        """The variant of that name.

        Raises:
            ConfigError: there is none; the message names the nearest.
        """
        named = {variant.name: variant for variant in self.variants}
        if name not in named:
            hint = suggest(name, named) if named else "it compares nothing"
            raise ConfigError(f"{self.name} has no variant called {name!r}; {hint}")
        return named[name]

    def requests(self, prompts: PromptMaker, seed: int | None = None) -> list[Request]:
        """Write out the requests, in the order of the drafts; every variant gets the same list.

        Args:
            seed: draw other ones than the preset does.

        Raises:
            ConfigError: this seed draws a length that cannot be.
        """
        seed, drafts = self._choose(seed)
        return write(drafts, prompts, seed)

    def workload(
        self,
        requests: Sequence[Request],
        seed: int | None = None,
        suffix: str = "",
        pace: float = 1.0,
    ) -> Script:
        """The requests with all that happens beside them, ready to be played.

        Args:
            requests: as written for the same seed.
            suffix: for the ids, so that a preset can be played twice.
            pace: all times are multiplied by it; 0 lets everything happen at once.
        """
        seed, drafts = self._choose(seed)
        pairs = zip(drafts, requests, strict=True)
        asks = [_ask(draft.paced(pace), request, suffix) for draft, request in pairs]
        notes = (Note(0.0, notice) for notice in self.notices)
        actions = (*notes, *self.sheet.actions(seed, pace))
        return Script(asks, actions, self.sheet.until(pace))

    def _choose(self, seed: int | None) -> tuple[int, tuple[Draft, ...]]:
        if seed is None:
            return self.about.seed, self.drafts
        context = self.engine.get("max_model_len", 0)
        return seed, self.sheet.draw(seed, self.folders, context).drafts


def _ask(draft: Draft, request: Request, suffix: str) -> Ask:
    """A request as its client asks it, with a name of its own for this time."""
    return Ask(
        request=replace(request, id=f"{request.id}{suffix}", arrival=draft.arrival),
        follows=f"{draft.follows}{suffix}" if draft.follows else "",
        delay=draft.delay,
        cancel_after_s=draft.cancel_after_s,
        has_history=draft.has_history,
    )
