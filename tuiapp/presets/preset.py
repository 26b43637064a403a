"""`Preset`: a workload, the settings to compare it under, and what that should show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from engine.config import ConfigError, KeyPath, construct, suggest
from engine.generate.traffic import Draft
from engine.generate.write import write
from engine.metrics import Slo
from engine.prompts import PromptMaker
from engine.request import Request
from engine.settings import EngineSettings
from tuiapp.presets.schema import About, Claim, Sheet, Variant


@dataclass(frozen=True, slots=True)
class Preset:
    """One story, as read from a file.

    Attributes:
        engine: the fields of `EngineSettings` that it sets, and their values.
        variants: the engines to compare, in order; perhaps none.
        drafts: its requests by arrival, for the seed that it names.
    """

    sheet: Sheet
    engine: Mapping[str, Any]
    variants: tuple[Variant, ...]
    drafts: tuple[Draft, ...]
    path: Path

    @property
    def name(self) -> str:
        return self.sheet.preset.id

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
        """Write out the requests, by arrival; every variant gets the same list.

        Args:
            seed: draw other ones than the preset does.

        Raises:
            ConfigError: this seed draws a length that cannot be.
        """
        drafts = self.drafts if seed is None else self.sheet.draw(seed)
        return write(drafts, prompts, self.about.seed if seed is None else seed)
